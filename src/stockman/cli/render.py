"""`stockman render`: render the Git repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import count_noun
from stockman.model.problem import Problem

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
    "edited": "kept: changed by hand; use --overwrite or --accept",
    "foreign": "kept: exists and is not a managed file; use --overwrite or --accept",
    "stale": "kept: no longer rendered; use --prune to remove it",
    "accept": "accepted with your changes",
}
_LONGEST = 40
"""Longest difference that is shown without --diff, in lines."""


@command(
    examples={
        "stockman render": "write all files",
        "stockman render --check": "exit with status 2 if files would change",
        "stockman render --diff": "show what would change, with secrets masked",
        "stockman render --prune": "also remove files that are no longer rendered",
        "stockman render --tree": "list files with their components",
    }
)
@click.option(
    "--check", is_flag=True, help="Change nothing; exit with status 2 if files would change."
)
@click.option("--diff", is_flag=True, help="Change nothing; show the differences.")
@click.option("--tree", is_flag=True, help="Change nothing; list files with their components.")
@click.option("--prune", is_flag=True, help="Remove files that are no longer rendered.")
@click.option(
    "--overwrite",
    multiple=True,
    metavar="PATH",
    help="Replace this file or directory even if it was changed by hand; can be repeated.",
)
@click.option(
    "--accept",
    multiple=True,
    metavar="PATH",
    help="Keep your changes to this file or directory; can be repeated.",
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
    """Render the Git repository from the configuration.

    All files are rendered and checked in memory first. Files that stockman did not write are never
    changed. Managed files that were changed by hand are kept and listed until you decide; files
    that are no longer rendered are removed only with --prune. Unchanged secrets keep their
    ciphertext. Without an age identity, nothing is written; --check, --diff and --tree compare
    secret files by their bytes. Without a cluster there are no files to render. The exit status is
    2 if --check or --diff find changes, 4 if files need your decision.
    """
    import os

    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.rendering.render import RenderContext, prepare_rendering, write_rendering
    from stockman.rendering.managed_files import FileDecisions

    directory = options.directory(ctx)
    access = RenderContext(environment=os.environ, clock=SystemClock(), entropy=SystemEntropy())
    decisions = FileDecisions(overwrite=frozenset(overwrite), accept=frozenset(accept), prune=prune)
    result = prepare_rendering(directory, decisions, access)
    show_problems(result.problems)
    if result.problems.errors:
        show(
            _data(result),
            kind="Rendering",
            output=output,
            human=lambda *_: (),
            names=lambda _: (),
        )
        return Exit.FAILED
    dry = check or diff or tree
    if not dry and not result.has_identity:
        show_problems([no_identity_to_render()])
        return Exit.FAILED
    if not dry and result.actions:
        write_rendering(directory, result, access)
    show(
        _data(result),
        kind="Rendering",
        output=output,
        human=lambda _, shown: _lines(result, shown, diff=diff, tree=tree),
        names=lambda _: (change.path for change in result.changes),
    )
    if result.actions:
        _report_decisions(result, dry=dry)
    if dry:
        return Exit.CHANGES if result.changes or result.undecided else Exit.DONE
    return Exit.PARTLY if result.undecided else Exit.DONE


def no_identity_to_render() -> Problem:
    return Problem(
        code="key.none",
        what="there is no age identity to encrypt secret files with",
        where="age.key",
        why="rendering would write the repository without its secrets",
        fix="put your age.key into this directory, or name it in SOPS_AGE_KEY_FILE; to compare"
        " without it, use `stockman render --check`",
    )


def _data(result: Rendering) -> object:
    return {
        "files": [
            {"path": action.path, "action": action.act.value, "component": action.component}
            for action in result.actions
        ],
        "uncompared": list(result.uncompared),
        "unjudged": dict(result.unknown_kinds),
        "problems": [problem_data(problem) for problem in result.problems],
    }


def _lines(result: Rendering, screen: Screen, *, diff: bool, tree: bool) -> Iterator[str]:
    if tree:
        for action in result.actions:
            if action.after is not None:
                yield f"{action.path}  {screen.paint(action.component, 'faint')}"
        return
    for action in result.actions:
        if action.act.value not in _SIGNS:
            continue
        sign, style = _SIGNS[action.act.value]
        decision = _DECISIONS.get(action.act.value, "")
        note = f"  {screen.paint(decision, 'faint')}" if decision else ""
        yield f"{screen.paint(sign, style)} {action.path}{note}"
        if diff or action.act.value == "edited":
            yield from _difference(action, screen, None if diff else _LONGEST)


def _difference(action: FileChange, screen: Screen, longest: int | None) -> Iterator[str]:
    from stockman.rendering.managed_files import file_difference

    styles = {"+": "good", "-": "error", "@": "faint"}
    lines = list(file_difference(action))
    for line in lines[:longest]:
        yield f"    {screen.paint(line, styles.get(line[:1], ''))}"
    if longest is not None and len(lines) > longest:
        more = f"{len(lines) - longest} more lines; use --diff to show all"
        yield f"    {screen.paint(more, 'faint')}"


def _report_decisions(result: Rendering, *, dry: bool) -> None:
    screen = current_screen()
    if result.uncompared:
        screen.note(
            "No age identity available: only the bytes of"
            f" {count_noun(len(result.uncompared), 'secret file')} were compared."
        )
    if result.unknown_kinds:
        kinds = ", ".join(
            f"{kind} ({count})" for kind, count in sorted(result.unknown_kinds.items())
        )
        screen.note(f"Not checked, because their schema is unknown: {kinds}")
    rendered = sum(action.after is not None for action in result.actions)
    changed = len(result.changes)
    verb = "would change" if dry else "changed"
    screen.note(f"{rendered} files, {changed} {verb}, {len(result.undecided)} need a decision")
