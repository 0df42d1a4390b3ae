"""Whatever is typed, a shell answers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lab.tests.ssh.hosts import Login

PIECES = (
    *("echo", "cat", "tee", "grep", "cut", "wc", "sed", "ls", "stat", "mkdir", "chmod", "rm", "id"),
    *("set", "export", "exit", "test", "[", "]", "sudo", "-n", "bash", "-c", "qm", "pct", "pvesm"),
    *("set -e", "disk import", "config", "path", "exec", "status", "100", "local:iso/a.iso"),
    *(
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "f()",
        "{",
        "}",
        "(",
        ")",
        "a=1",
        "$a",
        "${a}",
        "${a:-b}",
    ),
    *(
        "$(",
        '"$@"',
        '"',
        "'",
        "\\",
        "`",
        "$",
        "${",
        "|",
        "||",
        "&&",
        "&",
        ";",
        "\n",
        ">",
        ">>",
        "<",
    ),
    *("2>&1", ">/dev/null", "/tmp/x", "/var/lib/vz/snippets/a", "/etc/pve/lxc/1.conf", "-d", "-f"),
    *("\x00", "é", "\udc80", "*", "-", "--", "=", "!", "#", "1", "-1", "999999999999999999999"),
)
SCRIPTS = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(script=SCRIPTS, typed=st.binary(max_size=20))
def test_every_script_comes_to_an_end_with_a_status(script: str, typed: bytes) -> None:
    result = LOGIN.run(script, typed)

    assert 0 <= result.status <= 255
    assert "Traceback" not in result.err


LOGIN = Login()
