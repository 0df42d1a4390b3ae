"""Programs of Debian packages that are unpacked into the cache, not installed."""

import os
from pathlib import Path

from tools.cache import Cache
from tools.command import CommandRunner
from tools.errors import ToolError
from tools.progress import Progress
from tools.recipe import Program, UnpackedProgram

_DIRECTORIES = ("usr/bin", "usr/sbin", "bin", "sbin")
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
    """Download and unpack the packages, and write a wrapper script."""
    runner = CommandRunner(log=cache.log(program), progress=progress, environment=dict(os.environ))
    runner.log.unlink(missing_ok=True)
    with cache.publish(program) as directory:
        archives = directory / "archives"
        archives.mkdir()
        _download(runner, recipe, archives)
        for archive in sorted(archives.glob("*.deb")):
            unpack = ["dpkg-deb", "-x", str(archive), str(directory / "unpacked")]
            runner.run(f"unpacking {archive.name}", unpack, directory)
        _wrap(program, directory)


def _download(runner: CommandRunner, recipe: UnpackedProgram, archives: Path) -> None:
    download = ["apt-get", "download", *recipe.packages]
    try:
        try:
            runner.run("downloading", download, archives)
        except ToolError:
            runner.run("updating the list of packages", ["apt-get", "update"], Path("/"))
            runner.run("downloading", download, archives)
    except FileNotFoundError as error:
        raise ToolError("there is no apt-get") from error


def _wrap(program: Program, directory: Path) -> None:
    name = program.executable
    files = [f"{directory}/{name}" for directory in _DIRECTORIES]
    file = next((path for path in files if (directory / "unpacked" / path).exists()), None)
    if file is None:
        raise ToolError(f"the packages of {program.name} contain no {name}")
    wrapper = directory / name
    wrapper.write_text(_WRAPPER.format(file=file))
    wrapper.chmod(0o755)
