"""Build Go programs from an edited copy of a module."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tools.cache import Cache
from tools.command import CommandRunner
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
    """Build a program into the cache. The caller has its lock."""
    go = _compiler(program)
    runner = CommandRunner(log=cache.log(program), progress=progress, environment=_environment())
    runner.log.unlink(missing_ok=True)
    _refuse_old_compiler(program, go, runner, cache)
    source = recipe.source
    key = _source_key(program, source)

    def fill(directory: Path) -> None:
        if isinstance(source, GoModule):
            _copy_module(source, directory, go, runner)
        else:
            _write_check(source, directory, go, runner)

    directory = cache.stage(
        key, fill, lambda: progress.say("another process prepares the source; waiting")
    )
    with cache.publish(program) as target:
        progress.say(f"building {recipe.package}")
        try:
            command = _build_command(recipe, go, target / program.executable)
            runner.run("building", command, directory)
        except ToolError:
            cache.invalidate(key)
            raise


def _compiler(program: Program) -> str:
    from shutil import which

    if go := which("go"):
        return go
    raise CompilerMissingError(_no_compiler(program, "Go is not installed"))


def _refuse_old_compiler(program: Program, go: str, runner: CommandRunner, cache: Cache) -> None:
    version = runner.run("reading the version", [go, "env", "GOVERSION"], cache.root).strip()
    match = re.match(r"go(\d+)\.(\d+)", version)
    if match and (int(match[1]), int(match[2])) < _OLDEST:
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


def _copy_module(source: GoModule, directory: Path, go: str, runner: CommandRunner) -> None:
    module = f"{source.path}@{source.version}"
    runner.progress.say(f"downloading {module}")
    command = [go, "mod", "download", "-json", module]
    downloaded = json.loads(runner.run("downloading", command, directory))
    runner.progress.say("copying the source")
    _copy_tree(Path(downloaded["Dir"]), directory)
    replaces = [*_local_replaces(source, directory, go, runner), *source.replaces]
    if replaces:
        arguments = [f"-replace={replace}" for replace in replaces]
        runner.run("editing", [go, "mod", "edit", *arguments], directory)
    for edit in source.edits:
        _apply(edit, directory)


def _copy_tree(origin: Path, target: Path) -> None:
    """Copy contents without permissions: files of the module cache are read-only."""
    from shutil import copyfile

    for folder, _, files in os.walk(origin):
        copy = target / Path(folder).relative_to(origin)
        copy.mkdir(exist_ok=True)
        for file in files:
            copyfile(Path(folder, file), copy / file)


def _local_replaces(
    source: GoModule, directory: Path, go: str, runner: CommandRunner
) -> Iterator[str]:
    text = runner.run("reading", [go, "mod", "edit", "-json"], directory)
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


def _write_check(source: GoCheck, directory: Path, go: str, runner: CommandRunner) -> None:
    for name, text in own_sources(source).items():
        (directory / name).write_bytes(text)
    (directory / "go.mod").write_text(f"module check\n\ngo {_OLDEST[0]}.{_OLDEST[1]}\n")
    arguments = [f"-require={module}" for module in source.requires]
    arguments += [f"-replace={replace}" for replace in source.replaces]
    runner.run("editing", [go, "mod", "edit", *arguments], directory)
