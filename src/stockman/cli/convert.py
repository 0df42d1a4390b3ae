"""`stockman convert`: files of one form as files of another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.options import Choice
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.screen import Screen, current
from stockman.cli.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.conversion import Conversion, ConvertedFile

_STYLES = {"written": "good", "replaced": "warning", "up to date": "faint", "not written": "faint"}
_FORMS = ("classic", "toml", "vm", "terraform")
_DIALECTS = ("classic", "toml")


@command(
    examples={
        "stockman convert --to toml": "see what cluster.toml would not have, and write nothing",
        "stockman convert --to toml --out ../as-toml": "write cluster.toml",
        "stockman convert my-cluster --to classic --stdout": "print cluster.yaml and nodes.yaml",
        "stockman convert config/vm.yml --out my-cluster": "start from a list of VMs",
        "stockman convert terraform/variables.tf --out my-cluster": "start from variables",
    }
)
@click.argument(
    "source", metavar="[SOURCE]", default=".", type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--to",
    type=Choice(_DIALECTS),
    help="Dialect to write. Otherwise it is the other one, and classic for files of other tools.",
)
@click.option("--from", "form", type=Choice(_FORMS), help="What SOURCE is, if it is not clear.")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write into this directory, which is made if it does not exist.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--stdout", "printed", is_flag=True, help="Print the files, secrets included.")
@options.output_or_name
def convert(
    source: Path, out: Path | None, force: bool, printed: bool, output: Output, **given: Any
) -> int:
    """Turn files of one dialect into those of the other.

    SOURCE is a directory with cluster.yaml and nodes.yaml (classic) or cluster.toml (toml); or a
    file of another tool: vm.yml, a mapping of VMs, or variables.tf, of which default values are
    read. What you wrote stays as you wrote it, with its comments; what has no place in the result
    is listed, and so is what has to be filled in. Nothing is invented, and nothing is written
    without --out.
    """
    from stockman.adapters.system import SystemEntropy
    from stockman.app import conversion

    asked = click.get_current_context().get_parameter_source("output")
    if printed and (out is not None or asked is ParameterSource.COMMANDLINE):
        raise click.UsageError("--stdout goes neither with --out nor with --output")
    made = conversion.convert(source, **given)
    screen = current()
    if made.result.problems.errors:
        return _refuse(made, output)
    if out is None:
        files = conversion.unwritten(made)
    else:
        files = conversion.write(made, out, SystemEntropy(), force=force)
    if printed:
        whole = _whole(made.result.files)
        if not whole.isascii() and not screen.takes_unicode:
            raise click.UsageError("the output cannot carry every character; use --out instead")
        screen.data(whole)
        for line in _report(made, (), screen.notes_width):
            screen.note(line)
        return Exit.DONE
    show(
        _data(made, files, out),
        kind="Conversion",
        output=output,
        human=lambda _, screen: _shown(made, files, screen),
        names=lambda _: (file.name for file in files),
    )
    _tell(made, out, screen)
    return Exit.DONE


def _refuse(made: Conversion, output: Output) -> int:
    screen = current()
    problems = list(made.result.problems)
    if output in (Output.JSON, Output.YAML):
        show(_data(made, (), None), kind="Conversion", output=output, human=lambda *_: ())
        return Exit.FAILED
    paint, width = screen.notes_paint, screen.notes_width
    screen.complain(
        problem_lines(problems, made.texts, redact=made.redact, paint=paint, width=width)
    )
    screen.note("\nnothing was converted: put that right first")
    return Exit.FAILED


def _data(
    made: Conversion, files: tuple[ConvertedFile, ...], out: Path | None
) -> dict[str, object]:
    """The summary for programs; the files' content may be secret and is not part of it."""
    return {
        "source": str(made.source),
        "from": made.form,
        "to": made.to,
        "out": None if out is None else str(out),
        "files": files,
        "lost": [
            {
                "key": one.key,
                "file": one.at.file,
                "line": one.at.line,
                "column": one.at.column,
                "reason": one.reason,
            }
            for one in made.result.lost
        ],
        "toFill": made.result.to_fill,
        "notes": made.result.notes,
        "problems": [problem_data(problem) for problem in made.result.problems],
    }


def _shown(made: Conversion, files: tuple[ConvertedFile, ...], screen: Screen) -> Iterator[str]:
    rows = [(Cell(file.name, "name"), Cell(file.state, _STYLES[file.state])) for file in files]
    yield from table(("FILE", "STATE"), rows, width=screen.width, paint=screen.paint)
    yield from _report(made, ("",), screen.width)


def _report(made: Conversion, gap: tuple[str, ...], width: int | None) -> Iterator[str]:
    result = made.result
    if result.lost:
        yield from gap
        rows = [(one.key, str(one.at), one.reason) for one in result.lost]
        yield from table(("NOT CARRIED", "WHERE", "WHY"), rows, width=width)
        gap = ("",)
    if result.to_fill:
        yield from gap
        yield from table(
            ("TO FILL IN", "HOW"), [(one.what, one.fix) for one in result.to_fill], width=width
        )
        gap = ("",)
    if result.notes:
        yield from gap
        yield from (f"note: {note}" for note in result.notes)


def _whole(files: dict[str, str]) -> str:
    """All files as one text, which can be split at the names."""
    if len(files) == 1:
        return next(iter(files.values())).removesuffix("\n")
    return "\n".join(f"# {name}\n{text}" for name, text in files.items()).removesuffix("\n")


def _tell(made: Conversion, out: Path | None, screen: Screen) -> None:
    from stockman.app import conversion

    if out is None:
        screen.note("nothing was written: give `--out DIR`, or `--stdout` to print the files")
        return
    beside = conversion.left_beside(made, out)
    if beside:
        screen.note(f"still there: {' and '.join(beside)}; keep one dialect and remove the other")
    where = "" if out == Path() else f" -C {out}"
    screen.note(f"next: run `stockman{where} validate`")
