"""Programs of Debian packages, unpacked into the cache: nothing is installed for that."""

import os
from pathlib import Path

from tools.cache import Cache
from tools.command import Workshop
from tools.errors import ToolError
from tools.progress import Progress
from tools.recipe import Program, UnpackedProgram

_PLACES = ("usr/bin", "usr/sbin", "bin", "sbin")
_WRAPPER = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
for libraries in "$here"/unpacked/usr/lib/*-linux-gnu "$here"/unpacked/lib/*-linux-gnu; do
    LD_LIBRARY_PATH="$libraries${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
done
export LD_LIBRARY_PATH
exec "$here/unpacked/{file}" "$@"
"""


def build(program: Program, recipe: UnpackedProgram, cache: Cache, progress: Progress) -> None:
    """Download the packages, unpack them side by side, and put a wrapper in front."""
    workshop = Workshop(log=cache.log(program), progress=progress, environment=dict(os.environ))
    workshop.log.unlink(missing_ok=True)
    with cache.publishing(program) as place:
        archives = place / "archives"
        archives.mkdir()
        _download(workshop, recipe, archives)
        for archive in sorted(archives.glob("*.deb")):
            unpack = ["dpkg-deb", "-x", str(archive), str(place / "unpacked")]
            workshop.run(f"unpacking {archive.name}", unpack, place)
        _wrap(program, place)


def _download(workshop: Workshop, recipe: UnpackedProgram, archives: Path) -> None:
    download = ["apt-get", "download", *recipe.packages]
    try:
        try:
            workshop.run("downloading", download, archives)
        except ToolError:
            workshop.run("asking for packages", ["apt-get", "update"], Path("/"))
            workshop.run("downloading", download, archives)
    except FileNotFoundError as error:
        raise ToolError("apt-get does not exist here") from error


def _wrap(program: Program, place: Path) -> None:
    name = program.executable
    files = [f"{directory}/{name}" for directory in _PLACES]
    file = next((one for one in files if (place / "unpacked" / one).exists()), None)
    if file is None:
        raise ToolError(f"the packages of {program.name} hold no {name}")
    wrapper = place / name
    wrapper.write_text(_WRAPPER.format(file=file))
    wrapper.chmod(0o755)
