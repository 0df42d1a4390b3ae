import pytest

from tests.tools.machine import Machine

APT_GET = """
import pathlib, sys
here = pathlib.Path(__file__).parent
with (here.parent / "apt-calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
program = here / "no-such-server"
program.write_text("")
program.chmod(0o755)
"""


def test_a_program_on_the_path_is_found(machine: Machine) -> None:
    own = machine.install("hyperfine", "")

    assert machine.run("path", "hyperfine").stdout == f"{own}\n"


def test_a_program_that_is_not_there_names_its_package(machine: Machine) -> None:
    result = machine.run("path", "hyperfine")

    assert result.returncode == 1
    assert result.stderr == (
        "hyperfine is not installed: install the Debian package hyperfine"
        " (`python -m tools build hyperfine --install`), or set"
        " STOCKMAN_TOOL_HYPERFINE=/path/to/hyperfine\n"
    )


@pytest.mark.parametrize(
    ("name", "package"), [("hyperfine", "hyperfine"), ("chromedriver", "chromium-driver")]
)
def test_a_package_is_installed_only_when_told_to(
    machine: Machine, name: str, package: str
) -> None:
    machine.install("apt-get", APT_GET.replace("no-such-server", name))

    silent = machine.run("build", name)
    result = machine.run("build", name, "--install")

    assert silent.returncode == 1
    assert result.returncode == 0, result.stderr
    calls = (machine.root / "apt-calls").read_text()
    assert calls == f"update\ninstall -y --no-install-recommends {package}\n"


def test_without_apt_get_the_package_is_still_named(machine: Machine) -> None:
    result = machine.run("build", "hyperfine", "--install")

    assert result.returncode == 1
    assert "there is no apt-get: install the Debian package hyperfine" in result.stderr
