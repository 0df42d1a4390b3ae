"""What `stockman convert` says of a result: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.cli.problems import problem_data
from stockman.cli.tables import table

if TYPE_CHECKING:
    from stockman.app.conversion import Conversion, ConvertedFile
    from stockman.config.convert.result import Converted
    from stockman.model.origin import Position

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
            {"key": one.key, **_place(one.at), "reason": one.reason} for one in made.result.lost
        ],
        "toFill": made.result.to_fill,
        "notes": made.result.notes,
        "problems": [problem_data(problem) for problem in made.result.problems],
    }
    if made.form in ("talhelper", "topf"):
        data["keys"] = [
            {"key": one.key, **_place(one.at), "state": one.state, "how": one.how}
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


def report(made: Conversion, gap: tuple[str, ...], width: int | None) -> Iterator[str]:
    """Everything that the result does not say as the source did."""
    for lines in (
        _lost(made.result, width),
        _carried(made.result, width),
        _differs(made.result, made.form, width),
        _to_fill(made.result, width),
        [f"note: {note}" for note in made.result.notes],
    ):
        if lines:
            yield from gap
            yield from lines
            gap = ("",)


def _lost(result: Converted, width: int | None) -> list[str]:
    rows = [(one.key, str(one.at), one.reason) for one in result.lost]
    return list(table(("NOT CARRIED", "WHERE", "WHY"), rows, width=width)) if rows else []


def _carried(result: Converted, width: int | None) -> list[str]:
    """Keys that are not simply taken over, and how many are."""
    rows = [
        (one.key, str(one.at), one.state, one.how) for one in result.carried if one.state != "taken"
    ]
    taken = len(result.carried) - len(rows)
    lines = list(table(("KEY", "WHERE", "STATE", "HOW"), rows, width=width)) if rows else []
    if taken:
        lines.append(f"and {taken} keys that were taken over, which `-o json` lists")
    return lines


def _differs(result: Converted, form: str, width: int | None) -> list[str]:
    rows = [
        (one.what, _nodes(one.nodes), _short(one.before), _short(one.after), one.why)
        for one in result.differs
    ]
    heads = ("MACHINES DIFFER IN", "NODES", form.upper(), "STOCKMAN", "WHY")
    return list(table(heads, rows, width=width)) if rows else []


def _to_fill(result: Converted, width: int | None) -> list[str]:
    rows = [(one.what, one.fix) for one in result.to_fill]
    return list(table(("TO FILL IN", "HOW"), rows, width=width)) if rows else []


def _nodes(names: tuple[str, ...]) -> str:
    if len(names) <= _LONGEST_NODES:
        return ", ".join(names)
    return f"{names[0]} and {len(names) - 1} more"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _place(at: Position) -> dict[str, object]:
    return {"file": at.file, "line": at.line, "column": at.column}
