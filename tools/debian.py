"""Programs of the operating system, which are installed only on request."""

import os
from pathlib import Path

from tools.cache import Cache
from tools.command import CommandRunner
from tools.errors import ToolError
from tools.names import override_variable
from tools.progress import Progress
from tools.recipe import DebianProgram, Program

_SYSTEM_DIRECTORIES = "/usr/local/sbin:/usr/sbin:/sbin"
"""Directories of servers, often not on the PATH of users."""


def find(program: Program) -> Path | None:
    """Return a program on PATH or in the directories of servers."""
    from shutil import which

    path = which(program.executable) or which(program.executable, path=_SYSTEM_DIRECTORIES)
    return Path(path) if path else None


def install(program: Program, recipe: DebianProgram, cache: Cache, progress: Progress) -> None:
    """Install the package with apt-get."""
    runner = CommandRunner(
        log=cache.log(program),
        progress=progress,
        environment=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
    )
    runner.log.unlink(missing_ok=True)
    progress.say(f"installing the Debian package {recipe.package}")
    options = ["-y", "--no-install-recommends"]
    try:
        runner.run("updating the list of packages", ["apt-get", "update"], Path("/"))
        runner.run("installing", ["apt-get", "install", *options, recipe.package], Path("/"))
    except FileNotFoundError as error:
        raise ToolError(_absent(program, recipe, "there is no apt-get")) from error


def missing_package_error(program: Program, recipe: DebianProgram) -> ToolError:
    """Return an error that names the package to install."""
    return ToolError(_absent(program, recipe, f"{program.executable} is not installed"))


def _absent(program: Program, recipe: DebianProgram, fact: str) -> str:
    return (
        f"{fact}: install the Debian package {recipe.package}"
        f" (`python -m tools build {program.name} --install`), or set"
        f" {override_variable(program.name)}=/path/to/{program.executable}"
    )
