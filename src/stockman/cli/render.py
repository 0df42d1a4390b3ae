"""`stockman render`: the repository that the configuration asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.rendering.render import Rendering
    from stockman.rendering.managed_files import FileChange

_SIGNS = {
    "create": ("+", "good"),
    "update": ("~", "warning"),
    "remove": ("-", "error"),
    "edited": ("!", "error"),
    "foreign": ("!", "error"),
    "stale": ("?", "warning"),
    "accept": ("=", "faint"),
}
_DECISIONS = {
    "edited": "changed by hand, kept: --overwrite or --accept decides",
    "foreign": "in the way and not ours, kept: --overwrite or --accept decides",
    "stale": "no longer rendered, kept: --prune removes it",
    "accept": "accepted as it is",
}
_LONGEST = 40
"""Lines of a difference that is shown without being asked for."""


@command(
    examples={
        "stockman render": "write what the configuration asks for",
        "stockman render --check": "exit with 2 when something would change",
        "stockman render --diff": "show what would change, secrets masked",
        "stockman render --prune": "also remove files that are no longer rendered",
        "stockman render --tree": "show the files and the component each belongs to",
    }
)
@click.option("--check", is_flag=True, help="Change nothing; exit with 2 when something would.")
@click.option("--diff", is_flag=True, help="Change nothing; show what would change.")
@click.option("--tree", is_flag=True, help="Change nothing; list the files with their components.")
@click.option("--prune", is_flag=True, help="Remove files that are no longer rendered.")
@click.option(
    "--overwrite",
    multiple=True,
    metavar="PATH",
    help="Replace this file, or all of a directory, although it is not as rendered; may be given"
    " again.",
)
@click.option(
    "--accept",
    multiple=True,
    metavar="PATH",
    help="Keep this file, or all of a directory, as you have it; may be given again.",
)
@options.output_or_name
@click.pass_context
def render(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    check: bool,
    diff: bool,
    tree: bool,
    prune: bool,
    overwrite: tuple[str, ...],
    accept: tuple[str, ...],
    output: Output,
) -> int:
    """Write the repository that the configuration asks for.

    Everything is built and checked in memory first. Files that stockman did not render are never
    touched; files of its own that were changed by hand are kept and named until you decide, and
    files that are no longer rendered go only with --prune. Unchanged secrets keep their bytes.
    Without an age identity, secret files are not made, and only bytes of existing ones are
    compared; the output says so. Guests without a cluster need no files: there is nothing to
    render then. Exits with 2 when --check or --diff find changes, with 4 when files wait for your
    decision.
    """
    import os

    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.rendering.render import RenderContext, prepare_rendering, write_rendering
    from stockman.rendering.managed_files import FileDecisions

    directory = options.directory(ctx)
    doors = RenderContext(environment=os.environ, clock=SystemClock(), entropy=SystemEntropy())
    wishes = FileDecisions(overwrite=frozenset(overwrite), accept=frozenset(accept), prune=prune)
    found = prepare_rendering(directory, wishes, doors)
    screen = current_screen()
    if found.problems:
        lines = problem_lines(found.problems, paint=screen.notes_paint, width=screen.notes_width)
        screen.complain(lines)
    if found.problems.errors:
        show(
            _data(found),
            kind="Rendering",
            output=output,
            human=lambda *_: (),
            names=lambda _: (),
        )
        return Exit.FAILED
    dry = check or diff or tree
    if not dry and found.actions:
        write_rendering(directory, found, doors)
    show(
        _data(found),
        kind="Rendering",
        output=output,
        human=lambda _, shown: _lines(found, shown, diff=diff, tree=tree),
        names=lambda _: (one.path for one in found.changes),
    )
    if found.actions:
        _report_decisions(found, dry=dry)
    if dry:
        return Exit.CHANGES if found.changes or found.undecided else Exit.DONE
    return Exit.PARTLY if found.undecided else Exit.DONE


def _data(found: Rendering) -> object:
    return {
        "files": [
            {"path": one.path, "action": one.act.value, "component": one.component}
            for one in found.actions
        ],
        "uncompared": list(found.uncompared),
        "unjudged": dict(found.unjudged),
        "problems": [problem_data(problem) for problem in found.problems],
    }


def _lines(found: Rendering, screen: Screen, *, diff: bool, tree: bool) -> Iterator[str]:
    if tree:
        for one in found.actions:
            if one.after is not None:
                yield f"{one.path}  {screen.paint(one.component, 'faint')}"
        return
    for one in found.actions:
        if one.act.value not in _SIGNS:
            continue
        sign, style = _SIGNS[one.act.value]
        decision = _DECISIONS.get(one.act.value, "")
        note = f"  {screen.paint(decision, 'faint')}" if decision else ""
        yield f"{screen.paint(sign, style)} {one.path}{note}"
        if diff or one.act.value == "edited":
            yield from _difference(one, screen, None if diff else _LONGEST)


def _difference(one: FileChange, screen: Screen, longest: int | None) -> Iterator[str]:
    from stockman.rendering.managed_files import file_difference

    styles = {"+": "good", "-": "error", "@": "faint"}
    lines = list(file_difference(one))
    for line in lines[:longest]:
        yield f"    {screen.paint(line, styles.get(line[:1], ''))}"
    if longest is not None and len(lines) > longest:
        rest = f"{len(lines) - longest} more lines: --diff shows all"
        yield f"    {screen.paint(rest, 'faint')}"


def _report_decisions(found: Rendering, *, dry: bool) -> None:
    screen = current_screen()
    if found.uncompared:
        count = len(found.uncompared)
        screen.note(
            f"no age identity is at hand: of {count} secret file{'' if count == 1 else 's'}"
            " only the bytes were compared"
        )
    if found.unjudged:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(found.unjudged.items()))
        screen.note(f"no table describes these kinds, so they were not checked: {kinds}")
    rendered = sum(one.after is not None for one in found.actions)
    changed = len(found.changes)
    verb = "would change" if dry else "changed"
    screen.note(f"{rendered} files, {changed} {verb}, {len(found.undecided)} wait for a decision")
