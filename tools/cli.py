"""`python -m tools`: list, build, path, env."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from tools.errors import CompilerMissingError, ToolError, UnknownProgramError
from tools.provide import Provider
from tools.recipe import Program

_DONE, _FAILED, _USAGE, _INTERRUPTED = 0, 1, 64, 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_USAGE, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    provider = Provider()
    try:
        match options.command:
            case "list":
                return _list(provider, options.output)
            case "build":
                return _build(provider, options.names, install=options.install, quiet=options.quiet)
            case "path":
                _data(str(provider.path(options.name)))
                return _DONE
            case _:
                return _env(provider, options.output)
    except UnknownProgramError as error:
        _note(str(error))
        return _USAGE
    except ToolError as error:
        _note(str(error))
        return _FAILED
    except KeyboardInterrupt:
        _note("interrupted; the next call continues")
        return _INTERRUPTED


def _parser() -> _Parser:
    parser = _Parser(prog="python -m tools", description="Real programs for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list programs, and which of them are built")
    listing.add_argument("-o", "--output", choices=["table", "json"], default="table")
    build = commands.add_parser("build", help="build programs, by default all core programs")
    build.add_argument("names", nargs="*", metavar="NAME")
    build.add_argument(
        "--install", action="store_true", help="install missing Debian packages with apt-get"
    )
    build.add_argument("--quiet", action="store_true", help="print only what has to be built")
    path = commands.add_parser("path", help="print the path of a program; build it if needed")
    path.add_argument("name", metavar="NAME")
    env = commands.add_parser("env", help="print shell commands that add built programs to PATH")
    env.add_argument("-o", "--output", choices=["shell", "json"], default="shell")
    return parser


def _list(provider: Provider, output: str) -> int:
    rows = [(program, provider.ready_path(program.name)) for program in provider.programs]
    if output == "json":
        _json(
            [
                {
                    "name": program.name,
                    "version": program.version,
                    "kind": _kind(program),
                    "core": program.core,
                    "cached": path is not None,
                    "path": str(path) if path else None,
                }
                for program, path in rows
            ]
        )
        return _DONE
    width = max(len(program.name) for program in provider.programs)
    _data(f"{'NAME':{width}}  {'VERSION':9} {'KIND':7} CORE  CACHED")
    for program, path in rows:
        core, cached = ("yes" if fact else "no" for fact in (program.core, path))
        _data(f"{program.name:{width}}  {program.version:9} {_kind(program):7} {core:4}  {cached}")
    return _DONE


def _build(provider: Provider, names: Sequence[str], *, install: bool, quiet: bool) -> int:
    selected = [provider.find(name).name for name in names] or [
        program.name for program in provider.programs if program.core
    ]
    failed = []
    for number, name in enumerate(selected, start=1):
        if ready := provider.ready_path(name):
            if not quiet:
                _note(f"({number}/{len(selected)}) {name}: ready, {ready}")
            continue
        _note(f"({number}/{len(selected)}) {name}")
        try:
            provider.path(name, install=install)
        except CompilerMissingError:
            raise
        except ToolError as error:
            _note(f"{name}: {error}")
            failed.append(name)
    if failed:
        _note(f"not built: {', '.join(failed)}")
        return _FAILED
    return _DONE


def _env(provider: Provider, output: str) -> int:
    built = {program.name: provider.ready_path(program.name) for program in provider.programs}
    if output == "json":
        _json({name: str(path) for name, path in built.items() if path})
        return _DONE
    _data(f"export STOCKMAN_TOOLS={shlex.quote(str(provider.cache.root))}")
    # Programs with variants have a bare name only if there is a default variant.
    names = dict.fromkeys(program.executable for program in provider.programs)
    directories = {}
    for name in names:
        try:
            path = provider.ready_path(name)
        except UnknownProgramError:
            continue
        if path and path.is_relative_to(provider.cache.root):
            directories[str(path.parent)] = True
    if directories:
        _data(f'export PATH={shlex.quote(":".join(directories))}:"$PATH"')
    return _DONE


def _kind(program: Program) -> str:
    return type(program.recipe).__name__.removesuffix("Program").lower()


def _json(value: object) -> None:
    import json

    _data(json.dumps(value, indent=2))


def _data(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
