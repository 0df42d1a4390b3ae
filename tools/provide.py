"""One program by name: the user's own, the finished one, or one built now."""

import os
from pathlib import Path

from tools.cache import Cache, default_root
from tools.errors import ToolError
from tools.names import override_variable, program_named
from tools.progress import Progress
from tools.recipe import DebianProgram, GoProgram, NpmProgram, Program, UnpackedProgram
from tools.recipes import PROGRAMS


class Provider:
    """The table of programs together with the cache that holds them."""

    def __init__(
        self, programs: tuple[Program, ...] = PROGRAMS, cache: Cache | None = None
    ) -> None:
        self.programs = programs
        self.cache = cache or Cache(default_root())

    def named(self, name: str) -> Program:
        return program_named(name, self.programs)

    def at_hand(self, name: str) -> Path | None:
        """The executable if nothing has to be built for it. Starts no other program."""
        program = self.named(name)
        return _own(name) or _own(program.name) or self._kept(program)

    def path(self, name: str, *, install: bool = False) -> Path:
        """The executable, built now if it has to be."""
        if ready := self.at_hand(name):
            return ready
        program = self.named(name)
        self._make(program, install=install)
        made = self._kept(program)
        if made is None:
            raise ToolError(f"{program.name} was made but {program.executable} is not there")
        return made

    def _kept(self, program: Program) -> Path | None:
        if isinstance(program.recipe, DebianProgram):
            from tools import debian

            return debian.found(program)
        path = self.cache.executable(program)
        if not path.exists() and isinstance(program.recipe, UnpackedProgram):
            from tools import debian

            return debian.found(program)
        return path if path.exists() else None

    def _make(self, program: Program, *, install: bool) -> None:
        progress = Progress(program.name)
        recipe = program.recipe
        if isinstance(recipe, DebianProgram) and not install:
            from tools import debian

            raise debian.not_installed(program, recipe)
        with self.cache.lock(
            program.name, lambda: progress.say("another process is building it; waiting")
        ):
            if self._kept(program) is None:
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
        raise ToolError(f"{variable} is {chosen}, which is no executable file")
    return path
