"""Install npm programs: one installation as a source copy, and a start script per command."""

import os
import shlex
from pathlib import Path

from tools.cache import Cache
from tools.command import CommandRunner
from tools.digest import digest
from tools.errors import CompilerMissingError
from tools.names import override_variable
from tools.progress import Progress
from tools.recipe import NpmProgram, Program


def build(program: Program, recipe: NpmProgram, cache: Cache, progress: Progress) -> None:
    """Write the start script to the cache. The caller has the lock of the program."""
    npm = _installer(program)
    runner = CommandRunner(log=cache.log(program), progress=progress, environment=os.environ)
    runner.log.unlink(missing_ok=True)

    def fill(directory: Path) -> None:
        progress.say(f"installing {' '.join(recipe.packages)}")
        command = [npm, "install", "--no-audit", "--no-fund", *recipe.packages]
        runner.run("installing", command, directory)

    key = f"{recipe.packages[-1].replace('/', '+')}-{digest(recipe.packages)}"
    installed = cache.stage(
        key, fill, lambda: progress.say("another process installs the packages; waiting")
    )
    with cache.publish(program) as directory:
        script = directory / program.executable
        script.write_text(_start_script(installed / "node_modules", recipe))
        script.chmod(0o755)


def _installer(program: Program) -> str:
    from shutil import which

    if npm := which("npm"):
        return npm
    raise CompilerMissingError(
        f"npm is not installed: the program {program.name} comes from npm; install npm, or set"
        f" {override_variable(program.name)}=/path/to/{program.executable}"
    )


def _start_script(modules: Path, recipe: NpmProgram) -> str:
    node = shlex.quote(str(modules / recipe.node))
    command = shlex.quote(str(modules / ".bin" / recipe.command))
    return f'#!/bin/sh\nPATH={node}:"$PATH"\nexport PATH\nexec {command} "$@"\n'
