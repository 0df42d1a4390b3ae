"""`stockman convert`: convert configuration files between formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from stockman.cli import options
from stockman.cli.command import ExtraArguments, command
from stockman.cli.options import Choice
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.conversion.convert import Conversion, ConvertedFile
    from stockman.config.convert.output import ConversionResult, SourceFormat
    from stockman.model.origin import Position

_LONGEST_VALUE = 48
_LONGEST_NODES = 3


def report_data(
    conversion: Conversion, files: tuple[ConvertedFile, ...], out: Path | None
) -> dict[str, object]:
    """Return the summary as data; file contents are not part of it, they may be secret."""
    data: dict[str, object] = {
        "source": str(conversion.source),
        "from": conversion.form,
        "to": conversion.to,
        "out": None if out is None else str(out),
        "files": files,
        "lost": [
            {"key": key.key, **_location(key.at), "reason": key.reason}
            for key in conversion.result.lost
        ],
        "toFill": conversion.result.to_fill,
        "notes": conversion.result.notes,
        "problems": [problem_data(problem) for problem in conversion.result.problems],
    }
    if conversion.form in ("talhelper", "topf"):
        data["keys"] = [
            {"key": key.key, **_location(key.at), "state": key.state, "how": key.how}
            for key in conversion.result.carried
        ]
        data["differences"] = [
            {
                "nodes": list(difference.nodes),
                "what": difference.what,
                "before": difference.before,
                "after": difference.after,
                "why": difference.why,
            }
            for difference in conversion.result.differs
        ]
    return data


def report_lines(conversion: Conversion, gap: tuple[str, ...], width: int | None) -> Iterator[str]:
    """Return lines about everything in the result that differs from the source."""
    for lines in (
        _lost_lines(conversion.result, width),
        _conversion_lines(conversion.result, width),
        _difference_lines(conversion.result, conversion.form, width),
        _to_fill_lines(conversion.result, width),
        [f"Note: {note}" for note in conversion.result.notes],
    ):
        if lines:
            yield from gap
            yield from lines
            gap = ("",)


def _lost_lines(result: ConversionResult, width: int | None) -> list[str]:
    rows = [(key.key, str(key.at), key.reason) for key in result.lost]
    return list(table(("NOT CONVERTED", "WHERE", "WHY"), rows, width=width)) if rows else []


def _conversion_lines(result: ConversionResult, width: int | None) -> list[str]:
    """List the keys that needed a conversion, and count the others."""
    rows = [
        (key.key, str(key.at), key.state, key.how) for key in result.carried if key.state != "taken"
    ]
    taken = len(result.carried) - len(rows)
    lines = list(table(("KEY", "WHERE", "STATE", "HOW"), rows, width=width)) if rows else []
    if taken:
        lines.append(f"and {taken} keys that were copied unchanged; use `-o json` to list them")
    return lines


def _difference_lines(result: ConversionResult, form: str, width: int | None) -> list[str]:
    rows = [
        (
            difference.what,
            _node_names(difference.nodes),
            _shorten(difference.before),
            _shorten(difference.after),
            difference.why,
        )
        for difference in result.differs
    ]
    heads = ("MACHINE DIFFERENCE", "NODES", form.upper(), "STOCKMAN", "WHY")
    return list(table(heads, rows, width=width)) if rows else []


def _to_fill_lines(result: ConversionResult, width: int | None) -> list[str]:
    rows = [(value.what, value.fix) for value in result.to_fill]
    return list(table(("VALUE TO ADD", "HOW"), rows, width=width)) if rows else []


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
        "stockman convert --to toml": "show what cluster.toml would not contain, without writing",
        "stockman convert --to toml --out ../as-toml": "write cluster.toml",
        "stockman convert my-cluster --to classic --stdout": "print cluster.yaml and nodes.yaml",
        "stockman convert config/vm.yml --out my-cluster": "convert a list of VMs",
        "stockman convert terraform/variables.tf --out my-cluster": "convert Terraform variables",
        "stockman convert talhelper talos": "show the result of converting a talconfig.yaml",
        "stockman convert talhelper talos --out my-cluster": (
            "convert the files of a talhelper cluster"
        ),
        "stockman convert topf talos --out my-cluster -o json": (
            "convert the files of a topf cluster, with a JSON report"
        ),
    }
)
@click.argument("arguments", metavar="[TOOL] [SOURCE]", nargs=-1, type=click.Path())
@click.option(
    "--to",
    "--dialect",
    "to",
    type=Choice(_DIALECTS),
    help="Dialect to write; defaults to the other dialect, or classic for other tools.",
)
@click.option(
    "--from", "form", type=Choice(_FORMS), help="Format of SOURCE, if it cannot be detected."
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Output directory; created if it does not exist.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option(
    "--dry-run", is_flag=True, help="Show the result without writing it, even with --out."
)
@click.option("--stdout", "printed", is_flag=True, help="Print the files, including secrets.")
@click.option(
    "--set",
    "keys",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a key that talhelper or topf does not have, such as cluster_gateway_addr.",
)
@click.option(
    "--variable",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set a variable of talconfig.yaml that talenv.yaml does not define.",
)
@click.option(
    "--platform",
    type=Choice(_PLATFORMS),
    default="nocloud",
    show_default=True,
    help="Platform that the machines of talhelper or topf boot.",
)
@options.output_or_name
def convert(
    arguments: tuple[str, ...], out: Path | None, printed: bool, output: Output, **values: Any
) -> int:
    """Convert configuration files to another dialect or from another tool.

    SOURCE is a directory with cluster.yaml and nodes.yaml (classic) or cluster.toml (toml), or a
    file of another tool: vm.yml, a mapping of VMs, or variables.tf, whose default values are read.
    Your text and comments are kept. Keys that cannot be converted and values you have to add are
    listed. No values are guessed, and nothing is written without --out. The exit status is 4 if a
    value does not fit its new key and was left out.

    With TOOL, talhelper or topf, SOURCE is the directory with talconfig.yaml or topf.yaml. The
    report lists the result for each key and differences between the machines.
    """
    from stockman.adapters.system import SystemEntropy
    from stockman.app.conversion import convert

    source = click.get_current_context().get_parameter_source("output")
    if printed and (out is not None or source is ParameterSource.COMMANDLINE):
        raise click.UsageError("--stdout cannot be combined with --out or --output")
    force, dry_run = values.pop("force"), values.pop("dry_run")
    conversion = _convert_source(arguments, values)
    screen = current_screen()
    if conversion.result.problems.errors:
        return _refuse(conversion, output)
    done = Exit.PARTLY if conversion.result.is_lossy else Exit.DONE
    if out is None or dry_run:
        out = None
        files = convert.unwritten_files(conversion)
    else:
        files = convert.write_conversion(conversion, out, SystemEntropy(), force=force)
    if printed:
        text = _concatenate(conversion.result.files)
        if not text.isascii() and not screen.supports_unicode:
            raise click.UsageError(
                "the output encoding does not support every character; use --out instead"
            )
        screen.data(text)
        for line in report_lines(conversion, (), screen.notes_width):
            screen.note(line)
        return done
    show(
        report_data(conversion, files, out),
        kind="Conversion",
        output=output,
        human=lambda _, screen: _show_result(conversion, files, screen),
        names=lambda _: (file.name for file in files),
    )
    _warn(conversion, output, screen)
    _report_files(conversion, out, screen)
    return done


def _convert_source(arguments: tuple[str, ...], values: dict[str, Any]) -> Conversion:
    """Convert the source that the arguments name."""
    from stockman.app.conversion import convert

    named, values["form"] = _form(arguments, values.pop("form"))
    checked = click.Path(exists=True, path_type=Path)
    ctx = click.get_current_context()
    source = checked.convert(named, next(iter(ctx.command.params)), ctx)
    keys, variables = (_pairs(values.pop(name), name) for name in ("keys", "variables"))
    platform = values.pop("platform")
    form = values["form"] or convert.tool_of(source)
    if form not in _TOOLS:
        if keys or variables:
            raise click.UsageError("--set and --variable need talhelper or topf")
        return convert.convert_files(source, **values)
    settings = convert.TakeoverOptions(keys=keys, variables=variables, platform=platform)
    return convert.take_over(source, form, values["to"] or "classic", settings)


def _form(arguments: tuple[str, ...], form: SourceFormat | None) -> tuple[str, SourceFormat | None]:
    """Return the name of the source, and its format if the arguments state it."""
    if len(arguments) > 2 or (len(arguments) == 2 and arguments[0] not in _TOOLS):
        raise ExtraArguments(arguments[1:], click.get_current_context())
    if len(arguments) == 2 or (
        arguments and arguments[0] in _TOOLS and not Path(arguments[0]).exists()
    ):
        tool: SourceFormat = "talhelper" if arguments[0] == "talhelper" else "topf"
        if form is not None and form != tool:
            raise click.UsageError(f"specify either {tool} or {form}, not both")
        return arguments[1] if len(arguments) == 2 else ".", tool
    return arguments[0] if arguments else ".", form


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            form = "--set KEY=VALUE" if option == "keys" else "--variable NAME=VALUE"
            raise click.UsageError(f"{text!r} does not have the form {form}")
        pairs[name] = value
    return pairs


def _refuse(conversion: Conversion, output: Output) -> int:
    if output in (Output.JSON, Output.YAML):
        show(
            report_data(conversion, (), None), kind="Conversion", output=output, human=lambda *_: ()
        )
        return Exit.FAILED
    show_problems(conversion.result.problems, conversion.texts, redact=conversion.redact)
    current_screen().note("\nNothing was converted. Fix the problems above first.")
    return Exit.FAILED


def _show_result(
    conversion: Conversion, files: tuple[ConvertedFile, ...], screen: Screen
) -> Iterator[str]:
    rows = [(Cell(file.name, "name"), Cell(file.state, _STYLES[file.state])) for file in files]
    yield from table(("FILE", "STATE"), rows, width=screen.width, paint=screen.paint)
    yield from report_lines(conversion, ("",), screen.width)


def _warn(conversion: Conversion, output: Output, screen: Screen) -> None:
    warnings = conversion.result.problems.warnings
    if warnings and output not in (Output.JSON, Output.YAML):
        screen.print_problems([""])
        show_problems(warnings, conversion.texts, redact=conversion.redact)


def _concatenate(files: dict[str, str]) -> str:
    """Join all files to one text that can be split at the file names."""
    if len(files) == 1:
        return next(iter(files.values())).removesuffix("\n")
    return "\n".join(f"# {name}\n{text}" for name, text in files.items()).removesuffix("\n")


def _report_files(conversion: Conversion, out: Path | None, screen: Screen) -> None:
    from stockman.app.conversion import convert

    if out is None:
        screen.note(
            "Nothing was written. Use `--out DIR` to write files or `--stdout` to print them."
        )
        return
    beside = convert.leftover_files(conversion, out)
    if beside:
        screen.note(f"Also present: {' and '.join(beside)}. Keep one dialect and remove the other.")
    where = "" if out == Path() else f" -C {out}"
    screen.note(f"Next: run `stockman{where} validate`.")
