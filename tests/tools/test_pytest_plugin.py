import os
import subprocess
import sys

from tests.tools.machine import ROOT, TIMEOUT_SECONDS, Machine

TESTS = """
def test_cue(real_tool):
    assert real_tool("cue").name == "cue"

def test_old_talosctl(real_tool):
    assert real_tool("talosctl@1.11.5").name == "talosctl"
"""


def pytest_run(machine: Machine, **more: str) -> subprocess.CompletedProcess[str]:
    (machine.root / "test_real.py").write_text(TESTS)
    plugins = ["-p", "tools.pytest_plugin", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-rs", "-c", os.devnull, machine.root],
        env=machine.environment | {"PYTHONPATH": str(ROOT)} | more,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def test_a_test_gets_the_path_of_a_built_program(machine: Machine) -> None:
    assert "2 passed" in pytest_run(machine).stdout


def test_a_build_is_seen_while_tests_run(machine: Machine) -> None:
    assert "cue: building ./cmd/cue\n" in pytest_run(machine).stderr


def test_a_program_that_cannot_be_built_fails_its_test(machine: Machine) -> None:
    output = pytest_run(machine, FAKE_GO_FAILS="cue").stdout

    assert "1 failed, 1 passed" in output
    assert "cue: `go build -trimpath` exited with status 1" in output


def test_tests_of_programs_that_were_not_chosen_skip_with_the_reason(machine: Machine) -> None:
    output = pytest_run(machine, TOOLS="age, talosctl").stdout

    assert "1 passed, 1 skipped" in output
    assert "cue is not among TOOLS=age, talosctl" in output
    assert len(machine.calls("build")) == 1


def test_a_chosen_name_that_does_not_exist_is_an_error(machine: Machine) -> None:
    output = pytest_run(machine, TOOLS="talosclt").stdout

    assert "2 errors" in output
    assert "TOOLS names talosclt, but there is no such recipe" in output
