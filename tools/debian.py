"""Programs of the operating system: looked for, and installed only when told to."""

import os
from pathlib import Path

from tools.cache import Cache
from tools.command import Workshop
from tools.errors import ToolError
from tools.names import override_variable
from tools.progress import Progress
from tools.recipe import DebianProgram, Program

_SYSTEM_PLACES = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where servers live; often not on the PATH of an ordinary user."""


def found(program: Program) -> Path | None:
    """The program on PATH or among the system's servers."""
    from shutil import which

    path = which(program.executable) or which(program.executable, path=_SYSTEM_PLACES)
    return Path(path) if path else None


def install(program: Program, recipe: DebianProgram, cache: Cache, progress: Progress) -> None:
    """Have apt-get install the package."""
    workshop = Workshop(
        log=cache.log(program),
        progress=progress,
        environment=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
    )
    workshop.log.unlink(missing_ok=True)
    progress.say(f"installing the Debian package {recipe.package}")
    options = ["-y", "--no-install-recommends"]
    try:
        workshop.run("asking for packages", ["apt-get", "update"], Path("/"))
        workshop.run("installing", ["apt-get", "install", *options, recipe.package], Path("/"))
    except FileNotFoundError as error:
        raise ToolError(_absent(program, recipe, "apt-get does not exist here")) from error


def not_installed(program: Program, recipe: DebianProgram) -> ToolError:
    """The sentence that says which package to install."""
    return ToolError(_absent(program, recipe, f"{program.executable} is not installed"))


def _absent(program: Program, recipe: DebianProgram, fact: str) -> str:
    return (
        f"{fact}: install the Debian package {recipe.package}"
        f" (`python -m tools build {program.name} --install`), or set"
        f" {override_variable(program.name)}=/path/to/{program.executable}"
    )
