"""`stockman config machine`: what a machine is told, and where each line comes from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_nodes
from stockman.cli.config.show import difference_lines
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.machine_config.machines import Machines
    from stockman.model.desired import Node
    from stockman.talos.patches.tree import Branch, Tree

_MARK = "\ue000"
"""Stands before origins until they are put into their column; no configuration holds it."""
_WIDEST = 72
_LONGEST, _KEPT = 150, 40
"""Characters of words that stand beside origins as they are, and of what is shown of others."""


@command(
    name="machine",
    examples={
        "stockman config machine k8s-work-4": "the whole configuration, secrets masked",
        "stockman config machine k8s-work-4 --origin": "the same, and where each line comes from",
        "stockman config machine k8s-work-4 --diff running.yaml": "what it would change",
        "stockman config machine --all --show-secrets --output-dir ~/configs": "files for talosctl",
    },
)
@click.argument("names", metavar="[NODE]...", nargs=-1, shell_complete=complete_nodes)
@click.option("--all", "everyone", is_flag=True, help="All nodes; needs --output-dir or -o json.")
@click.option("--origin", is_flag=True, help="Show where each line comes from.")
@click.option(
    "--diff",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Show what differs in meaning from the configuration in this file.",
)
@click.option("--show-secrets", is_flag=True, help="Print secrets in the clear.")
@click.option(
    "--output-dir",
    "target",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one file per node into this directory, for you alone to read.",
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
    """Show the machine configuration of a node, with all patches in it.

    It is what the machine would be given, in the words of its Talos version. Secrets are masked
    unless --show-secrets is given. With --diff exits with 0 when both mean the same, with 2 when
    they do not, and with 4 when nothing differs but the file masks values; the file may be what
    `talosctl get machineconfig -o yaml` prints. A configuration that Talos would refuse is not
    shown: the problems say why, and the exit status is 1.
    """
    from stockman.app.machine_config.machines import load_machines

    _check_usage(names, ctx, everyone=everyone, several=target is not None or output is Output.JSON)
    found = load_machines(options.directory(ctx), os.environ)
    nodes = found.nodes if everyone else [found.named(name) for name in names]
    judged = found.judged(nodes)
    told = (*found.warnings, *judged)
    if told:
        screen = current_screen()
        screen.complain(problem_lines(told, paint=screen.notes_paint))
    if judged.errors:
        return Exit.FAILED
    if file is not None:
        return _compare(found, nodes[0], file, output, show_secrets=show_secrets)
    if target is not None:
        return _write(found, nodes, target, show_secrets=show_secrets)
    if output is Output.JSON:
        return _data(found, nodes, origin=origin, show_secrets=show_secrets)
    trees = found.documents(nodes[0], show_secrets=show_secrets)
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
        raise click.UsageError("name a node, or give --all", ctx)
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
    from stockman.config.writers.commented import Commented
    from stockman.talos.patches.tree import Branch, Leaf, plain_value

    if isinstance(tree, Leaf) or not tree:
        return Commented(value=_shorten(plain_value(tree)), beside=f"{_MARK}{tree.origin}")
    if isinstance(tree, Branch):
        return {key: _annotate(item) for key, item in tree.items()}
    return [_annotate(item) for item in tree]


def _shorten(value: object) -> object:
    """A value without the rest of what nobody reads: certificates in one long word."""
    if isinstance(value, str) and len(value) > _LONGEST and not any(map(str.isspace, value)):
        return f"{value[:_KEPT]}..."
    return value


def _data(found: Machines, nodes: Iterable[Node], *, origin: bool, show_secrets: bool) -> int:
    from stockman.config.origin_tree import with_origins
    from stockman.talos.patches.tree import plain_value, shown_tree

    data = []
    for node in nodes:
        trees = found.documents(node, show_secrets=show_secrets)
        documents = [with_origins(shown_tree(one)) if origin else plain_value(one) for one in trees]
        data.append({"node": str(node.name), "documents": documents})
    show(data, kind="MachineConfigurations", output=Output.JSON, human=lambda *_: ())
    return Exit.DONE


def _write(found: Machines, nodes: Iterable[Node], target: Path, *, show_secrets: bool) -> int:
    from stockman.adapters.system import SystemEntropy
    from stockman.app.machine_config.files import write_configurations

    tag = SystemEntropy().random_bytes(4).hex()
    count = write_configurations(found, nodes, target, tag=tag, show_secrets=show_secrets)
    current_screen().note(f"{target}: {count} files")
    return Exit.DONE


def _compare(found: Machines, node: Node, file: Path, output: Output, *, show_secrets: bool) -> int:
    from stockman.app.machine_config.comparison import compare_configurations

    result = compare_configurations(found, found.assembled(node), file, show_secrets=show_secrets)
    form = Output.JSON if output is Output.JSON else Output.TABLE
    show(result.differences, kind="Differences", output=form, human=difference_lines)
    if result.withheld:
        current_screen().note(
            f"not shown by {file}, and so not compared: {', '.join(result.withheld)}"
        )
    if not result.differences:
        current_screen().note("no difference")
    if result.differences:
        return Exit.CHANGES
    return Exit.PARTLY if result.withheld else Exit.DONE
