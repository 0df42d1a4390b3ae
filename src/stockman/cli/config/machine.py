"""`stockman config machine` and `check`: show and check machine configurations."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_nodes
from stockman.cli.config.show import difference_lines
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import count_noun

if TYPE_CHECKING:
    from stockman.app.machine_config.machines import Machines
    from stockman.model.desired import Node
    from stockman.talos.patches.schema import Branch, Tree

_MARK = "\ue000"
"""Separates a value from its origin until both are aligned; no configuration contains it."""
_WIDEST = 72
_LONGEST, _KEPT = 150, 40
"""Longest word that is shown in full beside origins, and how much is shown of a longer one."""


@command(
    name="machine",
    examples={
        "stockman config machine k8s-work-4": "show the machine configuration, with secrets masked",
        "stockman config machine k8s-work-4 --origin": "also show where each line comes from",
        "stockman config machine k8s-work-4 --diff running.yaml": (
            "compare it with a running configuration"
        ),
        "stockman config machine --all --show-secrets --output-dir ~/configs": (
            "write files for talosctl"
        ),
    },
)
@click.argument("names", metavar="[NODE]...", nargs=-1, shell_complete=complete_nodes)
@click.option(
    "--all", "everyone", is_flag=True, help="Select all nodes; needs --output-dir or -o json."
)
@click.option("--origin", is_flag=True, help="Show where each line comes from.")
@click.option(
    "--diff",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare with the machine configuration in this file.",
)
@click.option("--show-secrets", is_flag=True, help="Print secrets in plain text.")
@click.option(
    "--output-dir",
    "target",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one file per node to this directory, with mode 0600.",
)
@options.output_option((Output.YAML, Output.JSON))
@click.pass_context
def config_machine(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    names: tuple[str, ...],
    everyone: bool,
    origin: bool,
    file: Path | None,
    show_secrets: bool,
    target: Path | None,
    output: Output,
) -> int:
    """Show the machine configuration of a node.

    The configuration is rendered for the Talos version of the node, with all patches applied.
    Secrets are masked unless --show-secrets is given. With --diff, the exit status is 0 if both
    configurations are equivalent, 2 if they differ, 4 if they are equal except for masked values in
    the file; the file may be the output of `talosctl get machineconfig -o yaml`. An invalid
    configuration is not shown: its problems are printed and the exit status is 1.
    """
    from stockman.app.machine_config.machines import load_machines

    _check_usage(names, ctx, everyone=everyone, several=target is not None or output is Output.JSON)
    rendered = load_machines(options.directory(ctx), os.environ)
    nodes = rendered.nodes if everyone else [rendered.find(name) for name in names]
    judged = rendered.check(nodes)
    show_problems((*rendered.warnings, *judged))
    if judged.errors:
        return Exit.FAILED
    if file is not None:
        return _compare(rendered, nodes[0], file, output, show_secrets=show_secrets)
    if target is not None:
        return _write(rendered, nodes, target, show_secrets=show_secrets)
    if output is Output.JSON:
        return _data(rendered, nodes, origin=origin, show_secrets=show_secrets)
    trees = rendered.documents(nodes[0], show_secrets=show_secrets)
    screen = current_screen()
    if origin:
        screen.data("\n".join(_origin_lines(trees, screen)))
    else:
        from stockman.talos.machine.assembly import trees_text

        screen.data(trees_text(trees).removesuffix("\n"))
    return Exit.DONE


def _check_usage(
    names: tuple[str, ...], ctx: click.Context, *, everyone: bool, several: bool
) -> None:
    if bool(names) == everyone:
        raise click.UsageError("specify a node or --all", ctx)
    if (everyone or len(names) > 1) and not several:
        raise click.UsageError("several nodes need --output-dir or -o json", ctx)
    if ctx.params["file"] is not None and (everyone or len(names) > 1):
        raise click.UsageError("--diff compares one node", ctx)


def _origin_lines(trees: Iterable[Branch], screen: Screen) -> Iterator[str]:
    from stockman.config.writers.yaml_writer import render_yaml

    pairs: list[tuple[str, str]] = []
    for number, tree in enumerate(trees):
        if number:
            pairs.append(("---", ""))
        for line in render_yaml(_annotate(tree)).splitlines():
            text, _, origin = line.partition(f"  # {_MARK}")
            pairs.append((text, origin))
    fitting = [len(text) for text, origin in pairs if origin and len(text) <= _WIDEST]
    column = max(fitting, default=0)
    for text, origin in pairs:
        note = screen.paint(f"  # {origin}", "faint") if origin else ""
        yield f"{text:{column}}{note}" if origin else text


def _annotate(tree: Tree) -> object:
    from stockman.config.writers.yaml_writer import Commented
    from stockman.talos.patches.schema import Branch, Leaf, plain_value

    if isinstance(tree, Leaf) or not tree:
        return Commented(value=_shorten(plain_value(tree)), beside=f"{_MARK}{tree.origin}")
    if isinstance(tree, Branch):
        return {key: _annotate(item) for key, item in tree.items()}
    return [_annotate(item) for item in tree]


def _shorten(value: object) -> object:
    """Shorten long words such as certificates."""
    if isinstance(value, str) and len(value) > _LONGEST and not any(map(str.isspace, value)):
        return f"{value[:_KEPT]}..."
    return value


def _data(rendered: Machines, nodes: Iterable[Node], *, origin: bool, show_secrets: bool) -> int:
    from stockman.config.origin_tree import with_origins
    from stockman.talos.patches.schema import plain_value, shown_tree

    data = []
    for node in nodes:
        trees = rendered.documents(node, show_secrets=show_secrets)
        documents = [
            with_origins(shown_tree(tree)) if origin else plain_value(tree) for tree in trees
        ]
        data.append({"node": str(node.name), "documents": documents})
    show(data, kind="MachineConfigurations", output=Output.JSON, human=lambda *_: ())
    return Exit.DONE


def _write(rendered: Machines, nodes: Iterable[Node], target: Path, *, show_secrets: bool) -> int:
    from stockman.adapters.system import SystemEntropy
    from stockman.app.machine_config.machines import write_configurations

    tag = SystemEntropy().random_bytes(4).hex()
    count = write_configurations(rendered, nodes, target, tag=tag, show_secrets=show_secrets)
    current_screen().note(f"{target}: {count} files")
    return Exit.DONE


def _compare(
    rendered: Machines, node: Node, file: Path, output: Output, *, show_secrets: bool
) -> int:
    from stockman.app.machine_config.machines import compare_configurations

    result = compare_configurations(
        rendered, rendered.assemble(node), file, show_secrets=show_secrets
    )
    form = Output.JSON if output is Output.JSON else Output.TABLE
    show(result.differences, kind="Differences", output=form, human=difference_lines)
    if result.withheld:
        current_screen().note(
            f"masked in {file}, and therefore not compared: {', '.join(result.withheld)}"
        )
    if not result.differences:
        current_screen().note("No differences.")
    for key, paths in result.restored_by.items():
        current_screen().note(f"cluster-template sets {', '.join(paths)}; {key} restores it")
    if result.differences:
        return Exit.CHANGES
    return Exit.PARTLY if result.withheld else Exit.DONE


_LINES = ("1.11", "1.12", "1.13", "1.14")
_MODES = ("metal", "cloud")


@command(
    name="check",
    examples={
        "stockman config check worker.yaml": "check a file with the rules of the newest Talos",
        "stockman config check worker.yaml --talos-version 1.13 --mode cloud": (
            "check it for another version and mode"
        ),
        "stockman config check - < worker.yaml": "check a configuration from stdin",
        "stockman config check worker.yaml --strict -o json": "print every problem as JSON, for CI",
    },
)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--mode",
    type=options.Choice(_MODES),
    default=_MODES[0],
    show_default=True,
    help="Mode to validate for: metal if Talos installs itself, cloud if the disk is prepared.",
)
@click.option(
    "--talos-version",
    "line",
    type=options.Choice(_LINES),
    default=_LINES[-1],
    show_default=True,
    help="Talos minor version to validate for.",
)
@click.option("--strict", is_flag=True, help="Treat Talos warnings as errors.")
@options.output
def config_check(file: BinaryIO, mode: str, line: str, strict: bool, output: Output) -> int:
    """Check a machine configuration with the rules of Talos.

    FILE is the machine configuration of one machine, with one or more documents; use - for stdin.
    The result is the same as that of `talosctl validate`, which is not needed. Settings that depend
    on the machine, such as its disks, are not checked. The exit status is 0 if the configuration is
    valid, 1 otherwise.
    """
    from stockman.app.machine_config.check import MAX_BYTES, check_machine
    from stockman.talos.validation.report import RuntimeMode

    name = "stdin" if file.name in ("<stdin>", 0) else str(file.name)
    content = file.read(MAX_BYTES + 1)
    report = check_machine(name, content, talos=line, mode=RuntimeMode(mode), strict=strict)
    problems = list(report.problems)
    if output is not Output.TABLE:
        data = {
            "valid": report.valid,
            "file": report.file,
            "talos": report.talos,
            "mode": report.mode.value,
            "documents": list(report.documents),
            "problems": [problem_data(problem) for problem in problems],
        }
        show(data, kind="MachineCheck", output=output, human=lambda *_: ())
        return Exit.DONE if report.valid else Exit.FAILED
    # The lines of the file are not shown because most of them hold secrets.
    show_problems(problems, summary=True)
    if report.valid:
        documents = count_noun(len(report.documents), "document")
        current_screen().data(f"{name}: valid for Talos {line} in {mode} mode ({documents})")
    return Exit.DONE if report.valid else Exit.FAILED
