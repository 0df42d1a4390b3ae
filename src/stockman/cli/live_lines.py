"""What happens in a run, line by line: for pipes and logs, and above the part that is redrawn."""

from __future__ import annotations

from datetime import datetime, timedelta

from stockman.cli.durations import duration
from stockman.cli.live_progress import LiveProgress, attempt_of
from stockman.cli.paint import visible
from stockman.cli.tables import Cell
from stockman.engine.entry import Entry, Event
from stockman.engine.holding import hold_name
from stockman.engine.state import held_of

_SELDOM = timedelta(minutes=2)
"""How often the same wait is told."""


class LiveLines:
    """One line for what is worth one; a gate that says the same again is told seldom.

    Asked before the entry is taken into the progress.
    """

    def __init__(self, progress: LiveProgress) -> None:
        self._progress = progress
        self._waits: dict[str, tuple[str, datetime]] = {}

    def plain(self, entry: Entry) -> str:
        """A line for a log. Empty: nothing worth one."""
        said = self._gate(entry) if entry.event is Event.GATE else self._said(entry)
        about = entry.step or "run"
        return visible(f"{entry.at:%H:%M:%S} {about}: {said}") if said else ""

    def kept(self, entry: Entry) -> Cell | None:
        """A line that stays above what is redrawn. None: nothing worth one."""
        what = self._progress.what(entry.step) if entry.step else ""
        match entry.event:
            case Event.FINISHED if entry.data.get("already") is True:
                return _kept("already", f"{what}: was true", "faint")
            case Event.FINISHED:
                return _kept("done", f"{what}{self._took(entry, ' (', ')')}")
            case Event.FAILED:
                return _kept("failed", f"{what}: {_what(entry)}", "error")
            case Event.UNKNOWN:
                return _kept("unknown", f"{what}: {_what(entry)}", "warning")
            case Event.RETRIED:
                return _kept("again", f"{what}: {_what(entry)}", "warning")
            case Event.NOTE:
                return _kept("note", entry.text("text"))
            case Event.ACCEPTED:
                return _kept("run", self._accepted(entry))
        return None

    def _said(self, entry: Entry) -> str:
        match entry.event:
            case Event.ACCEPTED:
                return f"accepted: {self._accepted(entry)}"
            case Event.STARTED:
                attempt = attempt_of(entry)
                again = f", attempt {attempt}" if attempt > 1 else ""
                return f"started{again}: {self._progress.what(entry.step)}"
            case Event.FINISHED:
                return self._finished(entry)
            case Event.UNKNOWN | Event.FAILED:
                return f"{entry.event.value}: {_what(entry)}"
            case Event.RETRIED:
                return f"tries again in {duration(_wait(entry))}: {_what(entry)}"
            case Event.HELD | Event.RELEASED:
                return self._hold(entry)
            case Event.ENDED:
                return f"ended: {entry.text('result')}"
            case Event.NOTE:
                return entry.text("text")
        return str(entry.event.value)

    def _accepted(self, entry: Entry) -> str:
        steps = len(self._progress.plan.steps)
        count = "1 step" if steps == 1 else f"{steps} steps"
        return f"{entry.text('run')}, {count} on cluster {self._progress.plan.cluster}"

    def _finished(self, entry: Entry) -> str:
        place = f"{self._progress.finished + 1} of {len(self._progress.plan.steps)}"
        if entry.data.get("already") is True:
            return f"finished: was true already ({place})"
        return f"finished{self._took(entry, ' in ')} ({place})"

    def _took(self, entry: Entry, before: str, after: str = "") -> str:
        since = self._progress.since(entry.step)
        if since is None:
            return ""
        return f"{before}{duration((entry.at - since).total_seconds())}{after}"

    def _gate(self, entry: Entry) -> str:
        gate, because = entry.text("gate"), entry.text("because")
        key = f"{entry.step} {gate}"
        before = self._waits.pop(key, None)
        if entry.text("answer") == "go":
            return f"goes on: {gate}: {because}" if before is not None else ""
        verb = "waits" if entry.text("answer") == "wait" else "refused"
        said = f"{verb}: {gate}: {because}"
        if before is not None and before[0] == said and entry.at - before[1] < _SELDOM:
            self._waits[key] = before
            return ""
        self._waits[key] = (said, entry.at)
        return said

    def _hold(self, entry: Entry) -> str:
        if entry.event is Event.HELD:
            return f"held: {hold_name(held_of(entry))}"
        known = self._progress.held.get(entry.text("key"))
        return f"given back: {entry.text('key') if known is None else hold_name(known)}"


def _kept(label: str, text: str, style: str = "") -> Cell:
    return Cell(visible(f"{label:<8} {text}"), style)


def _wait(entry: Entry) -> float:
    found = entry.data.get("wait")
    return float(found) if isinstance(found, int | float) else 0.0


def _what(entry: Entry) -> str:
    problem = entry.data.get("problem")
    if not isinstance(problem, dict):
        return ""
    return f"{problem.get('what', '')} ({problem.get('code', '')})"
