import json
import re

from tests.tools.machine import Machine
from tools.recipes import PROGRAMS


def test_path_prints_the_executable_and_nothing_else(machine: Machine) -> None:
    result = machine.run("path", "cue")

    assert result.returncode == 0
    printed = result.stdout.splitlines()
    assert len(printed) == 1
    assert printed[0].startswith(f"{machine.cache}/programs/cue/0.17.1-")
    assert printed[0].endswith("/cue")
    assert "cue: downloading cuelang.org/go@v0.17.1" in result.stderr


def test_a_second_call_needs_no_compiler(machine: Machine) -> None:
    first = machine.run("path", "cue")
    (machine.bin / "go").unlink()

    second = machine.run("path", "cue")

    assert second.returncode == 0
    assert second.stdout == first.stdout
    assert second.stderr == ""


def test_every_step_is_one_line_with_the_elapsed_time(machine: Machine) -> None:
    lines = machine.run("path", "cue").stderr.splitlines()

    assert [line.partition("] cue: ")[2] for line in lines] == [
        "downloading cuelang.org/go@v0.17.1",
        "copying the source",
        "building ./cmd/cue",
        "ready",
    ]
    assert all(re.match(r"\[ *\d+\.\d s\] cue: ", line) for line in lines)


def test_the_list_as_json_tells_name_version_core_and_cached(machine: Machine) -> None:
    machine.run("path", "age")

    rows = {row["name"]: row for row in json.loads(machine.run("list", "-o", "json").stdout)}

    assert list(rows) == [program.name for program in PROGRAMS]
    age, path = rows["age"], rows["age"].pop("path")
    assert age == {"name": "age", "version": "1.3.2", "kind": "go", "core": True, "cached": True}
    assert path == machine.run("path", "age").stdout.strip()
    assert rows["age-keygen"]["cached"] is False
    assert rows["age-keygen"]["path"] is None
    assert rows["helm"]["core"] is False
    assert rows["renovate"]["kind"] == "npm"


def test_the_list_as_table_has_one_line_per_program(machine: Machine) -> None:
    machine.run("path", "age")

    heading, *lines = machine.run("list").stdout.splitlines()

    assert heading.split() == ["NAME", "VERSION", "KIND", "CORE", "CACHED"]
    assert len(lines) == len(PROGRAMS)
    assert ["age", "1.3.2", "go", "yes", "yes"] in [line.split() for line in lines]
    assert ["helm", "3.22.0", "go", "no", "no"] in [line.split() for line in lines]


def test_building_without_names_builds_the_core_programs_only(machine: Machine) -> None:
    result = machine.run("build")

    assert result.returncode == 0, result.stderr
    rows = json.loads(machine.run("list", "-o", "json").stdout)
    built = {row["name"] for row in rows if row["cached"]}
    assert built == {program.name for program in PROGRAMS if program.core}


def test_a_build_of_names_builds_these(machine: Machine) -> None:
    result = machine.run("build", "age", "helm")

    assert result.returncode == 0
    assert "(2/2) helm" in result.stderr
    assert len(machine.calls("build")) == 2


def test_a_quiet_build_tells_only_of_what_is_not_there(machine: Machine) -> None:
    machine.run("build", "age")

    loud = machine.run("build", "age")
    quiet = machine.run("build", "--quiet", "age", "cue")

    assert "(1/1) age: ready, " in loud.stderr
    assert quiet.stderr.startswith("(2/2) cue\n")
    assert (loud.returncode, quiet.returncode) == (0, 0)


def test_a_program_that_does_not_build_keeps_no_other_from_it(machine: Machine) -> None:
    result = machine.run("build", "age", "cue", FAKE_GO_FAILS="age")

    assert result.returncode == 1
    assert result.stderr.endswith("not built: age\n")
    assert machine.run("path", "cue", PATH="/nowhere").returncode == 0
    assert machine.run("path", "age", PATH="/nowhere").returncode == 1


def test_a_missing_compiler_is_said_in_one_sentence(machine: Machine) -> None:
    (machine.bin / "go").unlink()

    result = machine.run("build", "cue", "age")

    assert result.returncode == 1
    assert result.stderr == (
        "(1/2) cue\n"
        "Go is not installed: the program cue is built from source; install Go 1.26 or newer,"
        " or set STOCKMAN_TOOL_CUE=/path/to/cue\n"
    )


def test_an_old_compiler_is_said_in_one_sentence(machine: Machine) -> None:
    result = machine.run("path", "talosctl", FAKE_GO_VERSION="go1.25.9")

    assert result.returncode == 1
    assert result.stderr == (
        "go1.25.9 is too old: the program talosctl@1.14.1 is built from source; install Go 1.26"
        " or newer, or set STOCKMAN_TOOL_TALOSCTL_1_14_1=/path/to/talosctl\n"
    )


def test_a_failed_build_shows_the_last_lines_and_where_the_rest_is(machine: Machine) -> None:
    result = machine.run("path", "cue", FAKE_GO_FAILS="cue")

    assert result.returncode == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    log = machine.cache / "logs" / "cue.log"
    report = result.stderr.splitlines()[-22:]
    assert report[0] == "`go build -trimpath` exited with status 1"
    assert report[1:-1] == [f"  complaint {number}" for number in range(11, 31)]
    assert report[-1] == f"  full log: {log}"
    assert "complaint 1\n" in log.read_text()


def test_a_module_that_cannot_be_had_is_reported_with_the_reason(machine: Machine) -> None:
    (machine.root / "modules" / "cuelang.org+go@v0.17.1").rename(machine.root / "away")

    result = machine.run("path", "cue")

    assert result.returncode == 1
    assert "`go mod download` exited with status 1" in result.stderr
    assert "cuelang.org/go@v0.17.1: there is no such module" in result.stderr


def test_a_variable_points_to_an_existing_program(machine: Machine) -> None:
    own = machine.install("my-cue", "")

    result = machine.run("path", "cue", STOCKMAN_TOOL_CUE=str(own))

    assert result.stdout == f"{own}\n"
    assert machine.calls() == []


def test_the_variable_of_a_bare_name_and_of_the_version_both_count(machine: Machine) -> None:
    own = machine.install("my-talosctl", "")

    bare = machine.run("path", "talosctl", STOCKMAN_TOOL_TALOSCTL=str(own))
    exact = machine.run("path", "talosctl", STOCKMAN_TOOL_TALOSCTL_1_14_1=str(own))
    older = machine.run("path", "talosctl@1.11.5", STOCKMAN_TOOL_TALOSCTL=str(own))

    assert bare.stdout == exact.stdout == f"{own}\n"
    assert "/talosctl@1.11.5/" in older.stdout


def test_a_variable_that_points_nowhere_is_an_error(machine: Machine) -> None:
    result = machine.run("path", "cue", STOCKMAN_TOOL_CUE="/nowhere/cue")

    assert result.returncode == 1
    assert result.stderr == "STOCKMAN_TOOL_CUE is /nowhere/cue, which is not an executable file\n"


def test_an_unknown_name_suggests_the_nearest(machine: Machine) -> None:
    result = machine.run("build", "kubctl")

    assert result.returncode == 64
    assert result.stderr.startswith("there is no recipe kubctl; did you mean kubectl")


def test_an_unknown_command_is_wrong_usage(machine: Machine) -> None:
    assert machine.run("destroy").returncode == 64


def test_env_puts_the_built_programs_on_the_path(machine: Machine) -> None:
    machine.run("build", "age", "talosctl@1.11.5", "talosctl")
    age, talosctl = (machine.run("path", name).stdout.strip() for name in ("age", "talosctl"))

    lines = machine.run("env").stdout.splitlines()
    paths = json.loads(machine.run("env", "-o", "json").stdout)

    directories = [path.rpartition("/")[0] for path in (age, talosctl)]
    assert lines == [
        f"export STOCKMAN_TOOLS={machine.cache}",
        f'export PATH={":".join(directories)}:"$PATH"',
    ]
    assert paths["age"] == age
    assert paths["talosctl@1.14.1"] == talosctl
    assert set(paths) == {"age", "talosctl@1.11.5", "talosctl@1.14.1"}
