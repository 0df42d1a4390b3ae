"""Go programs: a writable copy of a module, made to build, and built."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tools.cache import Cache
from tools.command import Workshop
from tools.digest import digest
from tools.errors import CompilerMissingError, ToolError
from tools.names import override_variable
from tools.own_sources import own_bytes, own_sources
from tools.progress import Progress
from tools.recipe import (
    Delete,
    DropBuildConstraint,
    Edit,
    GoCheck,
    GoModule,
    GoProgram,
    Program,
    Write,
)

_OLDEST = (1, 26)
_CONSTRAINT = re.compile(r"^//\s*(go:build|\+build)\b.*\n", re.MULTILINE)


def build(program: Program, recipe: GoProgram, cache: Cache, progress: Progress) -> None:
    """Put the program into the cache. The caller holds its lock."""
    go = _compiler(program)
    workshop = Workshop(log=cache.log(program), progress=progress, environment=_environment())
    workshop.log.unlink(missing_ok=True)
    _refuse_old_compiler(program, go, workshop, cache)
    source = recipe.source
    key = _source_key(program, source)

    def fill(directory: Path) -> None:
        if isinstance(source, GoModule):
            _copy_module(source, directory, go, workshop)
        else:
            _write_check(source, directory, go, workshop)

    directory = cache.staged(
        key, fill, lambda: progress.say("another process prepares the source; waiting")
    )
    with cache.publishing(program) as place:
        progress.say(f"building {recipe.package}")
        try:
            command = _build_command(recipe, go, place / program.executable)
            workshop.run("building", command, directory)
        except ToolError:
            cache.distrust(key)
            raise


def _compiler(program: Program) -> str:
    from shutil import which

    if go := which("go"):
        return go
    raise CompilerMissingError(_no_compiler(program, "Go is not installed"))


def _refuse_old_compiler(program: Program, go: str, workshop: Workshop, cache: Cache) -> None:
    version = workshop.run("asking", [go, "env", "GOVERSION"], cache.root).strip()
    found = re.match(r"go(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < _OLDEST:
        raise CompilerMissingError(_no_compiler(program, f"{version} is too old"))


def _no_compiler(program: Program, fact: str) -> str:
    return (
        f"{fact}: the program {program.name} is built from source; install Go"
        f" {_OLDEST[0]}.{_OLDEST[1]} or newer, or set"
        f" {override_variable(program.name)}=/path/to/{program.executable}"
    )


def _environment() -> dict[str, str]:
    return os.environ | {
        "GOWORK": "off",
        "GOFLAGS": "-mod=mod",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
    }


def _source_key(program: Program, source: GoModule | GoCheck) -> str:
    if isinstance(source, GoModule):
        return f"{source.path.replace('/', '+')}@{source.version}-{digest(source)}"
    return f"{program.name}-{digest(source, own_bytes(source))}"


def _build_command(recipe: GoProgram, go: str, target: Path) -> list[str | Path]:
    verb = ["test", "-c"] if recipe.tests else ["build"]
    tags = ["-tags", ",".join(recipe.tags)] if recipe.tags else []
    ldflags = " ".join(("-s", "-w", *recipe.ldflags))
    options = ["-trimpath", "-buildvcs=false", *tags, "-ldflags", ldflags]
    return [go, *verb, *options, "-o", target, recipe.package]


def _copy_module(source: GoModule, directory: Path, go: str, workshop: Workshop) -> None:
    wanted = f"{source.path}@{source.version}"
    workshop.progress.say(f"downloading {wanted}")
    command = [go, "mod", "download", "-json", wanted]
    downloaded = json.loads(workshop.run("downloading", command, directory))
    workshop.progress.say("copying the source")
    _copy_tree(Path(downloaded["Dir"]), directory)
    replaces = [*_local_replaces(source, directory, go, workshop), *source.replaces]
    if replaces:
        words = [f"-replace={replace}" for replace in replaces]
        workshop.run("editing", [go, "mod", "edit", *words], directory)
    for edit in source.edits:
        _apply(edit, directory)


def _copy_tree(origin: Path, target: Path) -> None:
    """Copy contents only: files of the module cache are read-only, the copies are not."""
    from shutil import copyfile

    for folder, _, files in os.walk(origin):
        place = target / Path(folder).relative_to(origin)
        place.mkdir(exist_ok=True)
        for file in files:
            copyfile(Path(folder, file), place / file)


def _local_replaces(
    source: GoModule, directory: Path, go: str, workshop: Workshop
) -> Iterator[str]:
    text = workshop.run("reading", [go, "mod", "edit", "-json"], directory)
    for replace in json.loads(text).get("Replace") or []:
        if replace["New"].get("Version"):
            continue
        module = replace["Old"]["Path"]
        if source.local_replaces is None:
            raise ToolError(
                f"{source.path} {source.version} replaces {module} by a directory outside its"
                " archive; give its recipe a version in `local_replaces`"
            )
        versions = [module, *filter(None, [replace["Old"].get("Version")])]
        yield f"{'@'.join(versions)}={module}@{source.local_replaces}"


def _apply(edit: Edit, directory: Path) -> None:
    path = directory / edit.path
    match edit:
        case Delete():
            path.unlink()
        case Write(text=text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        case DropBuildConstraint():
            path.write_text(_CONSTRAINT.sub("", path.read_text()))


def _write_check(source: GoCheck, directory: Path, go: str, workshop: Workshop) -> None:
    for name, text in own_sources(source).items():
        (directory / name).write_bytes(text)
    (directory / "go.mod").write_text(f"module check\n\ngo {_OLDEST[0]}.{_OLDEST[1]}\n")
    words = [f"-require={module}" for module in source.requires]
    words += [f"-replace={replace}" for replace in source.replaces]
    workshop.run("editing", [go, "mod", "edit", *words], directory)
