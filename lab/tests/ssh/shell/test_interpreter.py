"""Scripts run as a shell runs them."""

from __future__ import annotations

import subprocess

import pytest

from lab.tests.ssh.hosts import Login

SCRIPTS = [
    "echo hello",
    "echo -n hello",
    "echo one;echo two",
    "echo one && echo two || echo three",
    "false && echo no; echo yes",
    "false || echo yes",
    "true && false; echo $?",
    "! true; echo $?",
    "! false && echo yes",
    "a=1; echo $a${a}x",
    "a='x  y'; echo $a; echo \"$a\"",
    'a=; echo "[$a]" [$a]',
    'echo "${a:-default}" ${a:-x y}',
    'a=set; echo "${a:-default}"',
    'a=$(echo one; echo two); echo "$a"; echo $a',
    "echo $(echo $(echo deep))",
    "echo a | cat",
    "false | true; echo $?",
    "exit 3; echo never",
    "echo err 1>&2",
    "echo a >/dev/null; echo b",
    "echo one # two",
    "echo 'it'\"'\"'s'",
    "echo a\\ b \"c\\$d\" 'e\\f'",
    "a=1 b=2; echo $a$b",
    "echo one \\\n two",
    "/bin/bash -c 'echo inside \"$0\"'",
    "bash -c 'echo $1' name first",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_do_what_bash_does(script: str) -> None:
    real = subprocess.run(
        ["/bin/bash", "-c", script], capture_output=True, text=True, check=False, timeout=20
    )

    result = Login().run(script)

    assert (result.out, result.status) == (real.stdout, real.returncode)


def test_what_is_not_known_is_not_found() -> None:
    result = Login().run("meadow --now")

    assert (result.status, result.err) == (127, "bash: line 1: meadow: command not found\n")


def test_a_path_that_is_not_there_is_said_to_be_missing() -> None:
    result = Login().run("/usr/bin/meadow")

    assert result.status == 127
    assert result.err == "bash: line 1: /usr/bin/meadow: No such file or directory\n"


def test_programs_of_the_system_are_not_among_those_of_users() -> None:
    assert Login().run("/usr/bin/qm help").status == 127
    assert Login().run("/usr/sbin/qm help").status == 0


def test_a_script_that_breaks_off_is_refused() -> None:
    for script in ("echo 'a", 'echo "a', "if true; then echo", "f(){ echo", "echo |", "echo $(a"):
        result = Login().run(script)
        assert result.status == 2
        assert result.err.startswith("bash: -c: line 1: ")


@pytest.mark.parametrize(
    "script", ["for a in b; do echo; done", "while true; do :; done", "(echo)", "a=`id`", "id &"]
)
def test_what_this_shell_does_not_know_is_said_and_nothing_is_run(script: str) -> None:
    result = Login().run(f"echo before; {script}")

    assert (result.status, result.out) == (2, "")
    assert "the shell of this lab does not know that" in result.err


def test_output_goes_to_files() -> None:
    login = Login()

    result = login.run("echo a > /tmp/x; echo b >> /tmp/x; cat < /tmp/x; cat /tmp/none 2>/tmp/err")

    assert (result.status, result.out) == (1, "a\nb\n")
    assert login.files.read("/tmp/err") == b"cat: /tmp/none: No such file or directory\n"


def test_output_to_nowhere_is_refused() -> None:
    result = Login().run("echo a > /gone/x")

    assert (result.status, result.err) == (1, "bash: line 1: /gone/x: No such file or directory\n")
