"""Provide a program by name: the user's own, a built one, or a new build."""

import os
from pathlib import Path

from tools.cache import Cache, default_root
from tools.errors import ToolError
from tools.names import find_program, override_variable
from tools.progress import Progress
from tools.recipe import DebianProgram, GoProgram, NpmProgram, Program, UnpackedProgram
from tools.recipes import PROGRAMS


class Provider:
    """All programs and their cache."""

    def __init__(
        self, programs: tuple[Program, ...] = PROGRAMS, cache: Cache | None = None
    ) -> None:
        self.programs = programs
        self.cache = cache or Cache(default_root())

    def find(self, name: str) -> Program:
        return find_program(name, self.programs)

    def ready_path(self, name: str) -> Path | None:
        """Return the executable if it needs no build. Starts no program."""
        program = self.find(name)
        return _own(name) or _own(program.name) or self._existing_path(program)

    def path(self, name: str, *, install: bool = False) -> Path:
        """Return the executable; build it if needed."""
        if ready := self.ready_path(name):
            return ready
        program = self.find(name)
        self._provide(program, install=install)
        path = self._existing_path(program)
        if path is None:
            raise ToolError(f"{program.name} was built, but {program.executable} does not exist")
        return path

    def _existing_path(self, program: Program) -> Path | None:
        if isinstance(program.recipe, DebianProgram):
            from tools import debian

            return debian.find(program)
        path = self.cache.executable(program)
        if not path.exists() and isinstance(program.recipe, UnpackedProgram):
            from tools import debian

            return debian.find(program)
        return path if path.exists() else None

    def _provide(self, program: Program, *, install: bool) -> None:
        progress = Progress(program.name)
        recipe = program.recipe
        if isinstance(recipe, DebianProgram) and not install:
            from tools import debian

            raise debian.missing_package_error(program, recipe)
        with self.cache.lock(
            program.name, lambda: progress.say("another process is building it; waiting")
        ):
            if self._existing_path(program) is None:
                _build(program, self.cache, progress)
        progress.say("ready")


def _build(program: Program, cache: Cache, progress: Progress) -> None:
    recipe = program.recipe
    match recipe:
        case GoProgram():
            from tools import golang

            golang.build(program, recipe, cache, progress)
        case NpmProgram():
            from tools import npm

            npm.build(program, recipe, cache, progress)
        case DebianProgram():
            from tools import debian

            debian.install(program, recipe, cache, progress)
        case UnpackedProgram():
            from tools import unpacked

            unpacked.build(program, recipe, cache, progress)


def _own(name: str) -> Path | None:
    variable = override_variable(name)
    chosen = os.environ.get(variable)
    if not chosen:
        return None
    path = Path(chosen).absolute()
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise ToolError(f"{variable} is {chosen}, which is not an executable file")
    return path
