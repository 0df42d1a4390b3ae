"""Programs of Debian packages that are unpacked into the cache."""

import subprocess

from tests.tools.machine import Machine

APT_GET = """
import pathlib, sys
here = pathlib.Path(__file__).parent
with (here.parent / "apt-calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
known = here.parent / "lists"
if sys.argv[1] == "update":
    known.write_text("")
elif not known.exists():
    sys.exit(100)
else:
    for package in sys.argv[2:]:
        pathlib.Path(f"{package}_1_amd64.deb").write_text("")
"""
DPKG_DEB = """
import pathlib, sys
package = pathlib.Path(sys.argv[2]).name.partition("_")[0]
root = pathlib.Path(sys.argv[3])
if package == "genisoimage":
    program = root / "usr/bin/isoinfo"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\\necho \\"$LD_LIBRARY_PATH\\" \\"$@\\"\\n")
    program.chmod(0o755)
    (root / "usr/lib/any-linux-gnu").mkdir(parents=True)
"""


def test_packages_are_downloaded_unpacked_and_wrapped(machine: Machine) -> None:
    machine.install("apt-get", APT_GET)
    machine.install("dpkg-deb", DPKG_DEB)

    result = machine.run("path", "isoinfo")

    assert result.returncode == 0, result.stderr
    assert (machine.root / "apt-calls").read_text() == (
        "download genisoimage\nupdate\ndownload genisoimage\n"
    )
    wrapper = result.stdout.strip()
    stdout = subprocess.run([wrapper, "-h"], capture_output=True, text=True, check=True).stdout
    libraries, _, arguments = stdout.strip().rpartition(" ")
    assert "/unpacked/usr/lib/any-linux-gnu" in libraries
    assert arguments == "-h"


def test_a_package_without_the_program_is_an_error(machine: Machine) -> None:
    machine.install("apt-get", APT_GET)
    machine.install("dpkg-deb", DPKG_DEB.replace('"genisoimage"', '"another"'))

    result = machine.run("path", "isoinfo")

    assert result.returncode == 1
    assert "the packages of isoinfo contain no isoinfo" in result.stderr


def test_a_program_on_the_path_is_taken_as_it_is(machine: Machine) -> None:
    own = machine.install("isoinfo", "")

    assert machine.run("path", "isoinfo").stdout == f"{own}\n"
