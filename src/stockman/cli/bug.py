"""An exception that nobody knows, as a problem that tells nothing confidential."""

from __future__ import annotations

from types import TracebackType

from stockman.cli.registry import PROGRAM
from stockman.model.problem import Problem


def bug(error: Exception) -> Problem:
    """What may be told of an unknown exception: its kind and its place, never its values."""
    return Problem(
        code="internal.bug",
        what="stockman met a case that it does not know",
        where=_place(error.__traceback__),
        why=f"{type(error).__name__} was raised and nothing handled it: a mistake in stockman",
        fix="run it again with `--debug` and report the trace to the stockman project",
    )


def _place(trace: TracebackType | None) -> str:
    """The innermost line of ours that an exception passed."""
    place = ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == PROGRAM:
            place = f"{module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
