"""What `stockman adopt` says of a cluster: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.screen import Screen, current
from stockman.cli.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.adopting.adoption import Adoption
    from stockman.app.adopting.writing import Written
    from stockman.model.problem import Problems

_STYLES = {"written": "good", "extended": "good", "kept": "faint", "refused": "warning"}


class Told(NamedTuple):
    """Everything that there is to say."""

    adoption: Adoption
    written: Written
    directory: Path
    is_written: bool


def refused(problems: Problems) -> None:
    """Say why a cluster cannot be adopted."""
    warned(problems)
    current().note("nothing was written")


def warned(problems: Problems) -> None:
    """Say what is to be looked at."""
    if problems:
        screen = current()
        paint, width = screen.notes_paint, screen.notes_width
        screen.complain(problem_lines(problems, {}, paint=paint, width=width))


def told(all_of_it: Told, output: Output) -> None:
    """Say what was written, and what a plan would contain."""
    adoption, written = all_of_it.adoption, all_of_it.written
    show(
        _data(all_of_it),
        kind="Adoption",
        output=output,
        human=lambda _, screen: _lines(all_of_it, screen),
        names=lambda _: (file.path for file in written.files),
    )
    warned(written.problems)
    screen = current()
    for name in adoption.invented:
        screen.note(f"invented: {name}")
    screen.note(_next(all_of_it))


def _data(all_of_it: Told) -> dict[str, object]:
    adoption, written = all_of_it.adoption, all_of_it.written
    return {
        "cluster": adoption.cluster,
        "directory": str(all_of_it.directory),
        "written": all_of_it.is_written,
        "nodes": list(adoption.nodes),
        "guests": list(adoption.guests),
        "files": written.files,
        "invented": list(adoption.invented),
        "expected": [
            {
                "stage": one.stage.value,
                "node": one.node,
                "what": one.what,
                "why": one.why,
                "safe": bool(one.safe),
                "because": one.safe,
            }
            for one in adoption.expected
        ],
        "problems": [problem_data(one) for one in (*adoption.problems, *written.problems)],
    }


def _lines(all_of_it: Told, screen: Screen) -> Iterator[str]:
    rows = [
        (Cell(file.path, "name"), Cell(file.state, _STYLES[file.state]))
        for file in all_of_it.written.files
    ]
    yield from table(("FILE", "STATE"), rows, width=screen.width, paint=screen.paint)
    if not all_of_it.adoption.expected:
        return
    yield ""
    changes = [
        (
            Cell("safe", "good") if one.safe else Cell("look", "warning"),
            one.what,
            one.safe or one.why,
        )
        for one in all_of_it.adoption.expected
    ]
    yield from table(
        ("A PLAN", "WOULD CHANGE", "BECAUSE"), changes, width=screen.width, paint=screen.paint
    )


def _next(all_of_it: Told) -> str:
    if not all_of_it.is_written:
        return "nothing was written"
    where = "" if all_of_it.directory == Path() else f" -C {all_of_it.directory}"
    return f"next: read the files, then run `stockman{where} validate` and `stockman{where} plan`"
