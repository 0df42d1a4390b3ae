"""What `stockman convert` says of a result: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.cli.problems import problem_data
from stockman.cli.terminal.tables import table

if TYPE_CHECKING:
    from stockman.app.conversion.convert import Conversion, ConvertedFile
    from stockman.config.convert.result import ConversionResult
    from stockman.model.origin import Position
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from stockman.cli import options
from stockman.cli.command import ExtraArguments, command
from stockman.cli.exit import Exit
from stockman.cli.options import Choice
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell

if TYPE_CHECKING:
    from stockman.app.conversion.convert import Conversion, ConvertedFile
    from stockman.config.convert.formats import SourceFormat


_LONGEST_VALUE = 48
_LONGEST_NODES = 3


def report_data(
    made: Conversion, files: tuple[ConvertedFile, ...], out: Path | None
) -> dict[str, object]:
    """The summary for programs; the files' content may be secret and is not part of it."""
    data: dict[str, object] = {
        "source": str(made.source),
        "from": made.form,
        "to": made.to,
        "out": None if out is None else str(out),
        "files": files,
        "lost": [
            {"key": one.key, **_location(one.at), "reason": one.reason} for one in made.result.lost
        ],
        "toFill": made.result.to_fill,
        "notes": made.result.notes,
        "problems": [problem_data(problem) for problem in made.result.problems],
    }
    if made.form in ("talhelper", "topf"):
        data["keys"] = [
            {"key": one.key, **_location(one.at), "state": one.state, "how": one.how}
            for one in made.result.carried
        ]
        data["differences"] = [
            {
                "nodes": list(one.nodes),
                "what": one.what,
                "before": one.before,
                "after": one.after,
                "why": one.why,
            }
            for one in made.result.differs
        ]
    return data


def report_lines(made: Conversion, gap: tuple[str, ...], width: int | None) -> Iterator[str]:
    """Everything that the result does not say as the source did."""
    for lines in (
        _lost_lines(made.result, width),
        _conversion_lines(made.result, width),
        _difference_lines(made.result, made.form, width),
        _to_fill_lines(made.result, width),
        [f"note: {note}" for note in made.result.notes],
    ):
        if lines:
            yield from gap
            yield from lines
            gap = ("",)


def _lost_lines(result: ConversionResult, width: int | None) -> list[str]:
    rows = [(one.key, str(one.at), one.reason) for one in result.lost]
    return list(table(("NOT CARRIED", "WHERE", "WHY"), rows, width=width)) if rows else []


def _conversion_lines(result: ConversionResult, width: int | None) -> list[str]:
    """Keys that are not simply taken over, and how many are."""
    rows = [
        (one.key, str(one.at), one.state, one.how) for one in result.carried if one.state != "taken"
    ]
    taken = len(result.carried) - len(rows)
    lines = list(table(("KEY", "WHERE", "STATE", "HOW"), rows, width=width)) if rows else []
    if taken:
        lines.append(f"and {taken} keys that were taken over, which `-o json` lists")
    return lines


def _difference_lines(result: ConversionResult, form: str, width: int | None) -> list[str]:
    rows = [
        (one.what, _node_names(one.nodes), _shorten(one.before), _shorten(one.after), one.why)
        for one in result.differs
    ]
    heads = ("MACHINES DIFFER IN", "NODES", form.upper(), "STOCKMAN", "WHY")
    return list(table(heads, rows, width=width)) if rows else []


def _to_fill_lines(result: ConversionResult, width: int | None) -> list[str]:
    rows = [(one.what, one.fix) for one in result.to_fill]
    return list(table(("TO FILL IN", "HOW"), rows, width=width)) if rows else []


def _node_names(names: tuple[str, ...]) -> str:
    if len(names) <= _LONGEST_NODES:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} more"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _location(at: Position) -> dict[str, object]:
    return {"file": at.file, "line": at.line, "column": at.column}


_STYLES = {"written": "good", "replaced": "warning", "up to date": "faint", "not written": "faint"}
_TOOLS = ("talhelper", "topf")
_FORMS = ("classic", "toml", "vm", "terraform", *_TOOLS)
_DIALECTS = ("classic", "toml")
_PLATFORMS = ("nocloud", "metal")


@command(
    examples={
        "stockman convert --to toml": "see what cluster.toml would not have, and write nothing",
        "stockman convert --to toml --out ../as-toml": "write cluster.toml",
        "stockman convert my-cluster --to classic --stdout": "print cluster.yaml and nodes.yaml",
        "stockman convert config/vm.yml --out my-cluster": "start from a list of VMs",
        "stockman convert terraform/variables.tf --out my-cluster": "start from variables",
        "stockman convert talhelper talos": "see what would become of a talconfig.yaml",
        "stockman convert talhelper talos --out my-cluster": "take the cluster over",
        "stockman convert topf talos --out my-cluster -o json": "the same from topf, for programs",
    }
)
@click.argument("words", metavar="[TOOL] [SOURCE]", nargs=-1, type=click.Path())
@click.option(
    "--to",
    "--dialect",
    "to",
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
@click.option("--dry-run", is_flag=True, help="Write nothing, even with --out.")
@click.option("--stdout", "printed", is_flag=True, help="Print the files, secrets included.")
@click.option(
    "--set",
    "keys",
    metavar="KEY=VALUE",
    multiple=True,
    help="A key that talhelper or topf does not know, such as cluster_gateway_addr.",
)
@click.option(
    "--variable",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="A variable of talconfig.yaml that talenv.yaml does not give.",
)
@click.option(
    "--platform",
    type=Choice(_PLATFORMS),
    default="nocloud",
    show_default=True,
    help="What the machines of talhelper or topf booted.",
)
@options.output_or_name
def convert(
    words: tuple[str, ...], out: Path | None, printed: bool, output: Output, **given: Any
) -> int:
    """Turn files of one dialect into those of the other.

    SOURCE is a directory with cluster.yaml and nodes.yaml (classic) or cluster.toml (toml); or a
    file of another tool: vm.yml, a mapping of VMs, or variables.tf, of which default values are
    read. What you wrote stays as you wrote it, with its comments; what has no place in the result
    is listed, and so is what has to be filled in. Nothing is invented, and nothing is written
    without --out.

    With TOOL, talhelper or topf, SOURCE is the directory with talconfig.yaml or topf.yaml. The
    report says what became of every key, and in what the machines differ.
    """
    from stockman.adapters.system import SystemEntropy
    from stockman.app.conversion import convert

    asked = click.get_current_context().get_parameter_source("output")
    if printed and (out is not None or asked is ParameterSource.COMMANDLINE):
        raise click.UsageError("--stdout goes neither with --out nor with --output")
    force, dry_run = given.pop("force"), given.pop("dry_run")
    made = _convert_source(words, given)
    screen = current_screen()
    if made.result.problems.errors:
        return _refuse(made, output)
    if out is None or dry_run:
        out = None
        files = convert.unwritten_files(made)
    else:
        files = convert.write_conversion(made, out, SystemEntropy(), force=force)
    if printed:
        whole = _concatenate(made.result.files)
        if not whole.isascii() and not screen.takes_unicode:
            raise click.UsageError("the output cannot carry every character; use --out instead")
        screen.data(whole)
        for line in report_lines(made, (), screen.notes_width):
            screen.note(line)
        return Exit.DONE
    show(
        report_data(made, files, out),
        kind="Conversion",
        output=output,
        human=lambda _, screen: _show_result(made, files, screen),
        names=lambda _: (file.name for file in files),
    )
    _warn(made, output, screen)
    _report_files(made, out, screen)
    return Exit.DONE


def _convert_source(words: tuple[str, ...], given: dict[str, Any]) -> Conversion:
    """The source that the words of the command line name, converted."""
    from stockman.app.conversion import convert, takeover

    named, given["form"] = _form(words, given.pop("form"))
    checked = click.Path(exists=True, path_type=Path)
    ctx = click.get_current_context()
    source = checked.convert(named, next(iter(ctx.command.params)), ctx)
    keys, variables = (_pairs(given.pop(name), name) for name in ("keys", "variables"))
    platform = given.pop("platform")
    form = given["form"] or convert.tool_of(source)
    if form not in _TOOLS:
        if keys or variables:
            raise click.UsageError("--set and --variable go with talhelper and topf only")
        return convert.convert_files(source, **given)
    wishes = takeover.TakeoverOptions(keys=keys, variables=variables, platform=platform)
    return takeover.take_over(source, form, given["to"] or "classic", wishes)


def _form(words: tuple[str, ...], form: SourceFormat | None) -> tuple[str, SourceFormat | None]:
    """The name of the source, and what it is if the words say so."""
    if len(words) > 2 or (len(words) == 2 and words[0] not in _TOOLS):
        raise ExtraArguments(words[1:], click.get_current_context())
    if len(words) == 2 or (words and words[0] in _TOOLS and not Path(words[0]).exists()):
        tool: SourceFormat = "talhelper" if words[0] == "talhelper" else "topf"
        if form is not None and form != tool:
            raise click.UsageError(f"it is either {tool} or {form}")
        return words[1] if len(words) == 2 else ".", tool
    return words[0] if words else ".", form


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            form = "--set KEY=VALUE" if option == "keys" else "--variable NAME=VALUE"
            raise click.UsageError(f"{text!r} is not of the form {form}")
        pairs[name] = value
    return pairs


def _refuse(made: Conversion, output: Output) -> int:
    screen = current_screen()
    problems = list(made.result.problems)
    if output in (Output.JSON, Output.YAML):
        show(report_data(made, (), None), kind="Conversion", output=output, human=lambda *_: ())
        return Exit.FAILED
    paint, width = screen.notes_paint, screen.notes_width
    screen.complain(
        problem_lines(problems, made.texts, redact=made.redact, paint=paint, width=width)
    )
    screen.note("\nnothing was converted: put that right first")
    return Exit.FAILED


def _show_result(
    made: Conversion, files: tuple[ConvertedFile, ...], screen: Screen
) -> Iterator[str]:
    rows = [(Cell(file.name, "name"), Cell(file.state, _STYLES[file.state])) for file in files]
    yield from table(("FILE", "STATE"), rows, width=screen.width, paint=screen.paint)
    yield from report_lines(made, ("",), screen.width)


def _warn(made: Conversion, output: Output, screen: Screen) -> None:
    warnings = list(made.result.problems.warnings)
    if warnings and output not in (Output.JSON, Output.YAML):
        paint, width = screen.notes_paint, screen.notes_width
        screen.complain(
            ("", *problem_lines(warnings, made.texts, redact=made.redact, paint=paint, width=width))
        )


def _concatenate(files: dict[str, str]) -> str:
    """All files as one text, which can be split at the names."""
    if len(files) == 1:
        return next(iter(files.values())).removesuffix("\n")
    return "\n".join(f"# {name}\n{text}" for name, text in files.items()).removesuffix("\n")


def _report_files(made: Conversion, out: Path | None, screen: Screen) -> None:
    from stockman.app.conversion import convert

    if out is None:
        screen.note("nothing was written: give `--out DIR`, or `--stdout` to print the files")
        return
    beside = convert.leftover_files(made, out)
    if beside:
        screen.note(f"still there: {' and '.join(beside)}; keep one dialect and remove the other")
    where = "" if out == Path() else f" -C {out}"
    screen.note(f"next: run `stockman{where} validate`")
