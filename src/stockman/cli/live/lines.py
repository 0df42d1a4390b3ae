"""What happens in a run, line by line: for pipes and logs, and above the part that is redrawn."""

from __future__ import annotations

from datetime import datetime, timedelta

from stockman.cli.live.progress import LiveProgress, attempt_of
from stockman.cli.terminal.durations import format_duration
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell
from stockman.engine.holds import hold_summary
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import parse_hold_entry

_REPEAT_INTERVAL = timedelta(minutes=2)
"""How often the same wait is told."""


class LiveLines:
    """One line for what is worth one; a gate that says the same again is told seldom.

    Asked before the entry is taken into the progress.
    """

    def __init__(self, progress: LiveProgress) -> None:
        self._progress = progress
        self._waits: dict[str, tuple[str, datetime]] = {}

    def plain(self, entry: JournalEntry) -> str:
        """A line for a log. Empty: nothing worth one."""
        said = self._gate(entry) if entry.event is EntryType.GATE else self._said(entry)
        about = entry.step or "run"
        return escape_control(f"{entry.at:%H:%M:%S} {about}: {said}") if said else ""

    def kept(self, entry: JournalEntry) -> Cell | None:
        """A line that stays above what is redrawn. None: nothing worth one."""
        what = self._progress.what(entry.step) if entry.step else ""
        match entry.event:
            case EntryType.FINISHED if entry.data.get("already") is True:
                return _kept_line("already", f"{what}: was true", "faint")
            case EntryType.FINISHED:
                return _kept_line("done", f"{what}{self._took(entry, ' (', ')')}")
            case EntryType.FAILED:
                return _kept_line("failed", f"{what}: {_entry_text(entry)}", "error")
            case EntryType.UNKNOWN:
                return _kept_line("unknown", f"{what}: {_entry_text(entry)}", "warning")
            case EntryType.RETRIED:
                return _kept_line("again", f"{what}: {_entry_text(entry)}", "warning")
            case EntryType.NOTE:
                return _kept_line("note", entry.text("text"))
            case EntryType.ACCEPTED:
                return _kept_line("run", self._accepted(entry))
        return None

    def _said(self, entry: JournalEntry) -> str:
        match entry.event:
            case EntryType.ACCEPTED:
                return f"accepted: {self._accepted(entry)}"
            case EntryType.STARTED:
                attempt = attempt_of(entry)
                again = f", attempt {attempt}" if attempt > 1 else ""
                return f"started{again}: {self._progress.what(entry.step)}"
            case EntryType.FINISHED:
                return self._finished(entry)
            case EntryType.UNKNOWN | EntryType.FAILED:
                return f"{entry.event.value}: {_entry_text(entry)}"
            case EntryType.RETRIED:
                return f"tries again in {format_duration(_wait(entry))}: {_entry_text(entry)}"
            case EntryType.HELD | EntryType.RELEASED:
                return self._hold(entry)
            case EntryType.ENDED:
                return f"ended: {entry.text('result')}"
            case EntryType.NOTE:
                return entry.text("text")
        return str(entry.event.value)

    def _accepted(self, entry: JournalEntry) -> str:
        steps = len(self._progress.plan.steps)
        count = "1 step" if steps == 1 else f"{steps} steps"
        return f"{entry.text('run')}, {count} on cluster {self._progress.plan.cluster}"

    def _finished(self, entry: JournalEntry) -> str:
        place = f"{self._progress.finished + 1} of {len(self._progress.plan.steps)}"
        if entry.data.get("already") is True:
            return f"finished: was true already ({place})"
        return f"finished{self._took(entry, ' in ')} ({place})"

    def _took(self, entry: JournalEntry, before: str, after: str = "") -> str:
        since = self._progress.since(entry.step)
        if since is None:
            return ""
        return f"{before}{format_duration((entry.at - since).total_seconds())}{after}"

    def _gate(self, entry: JournalEntry) -> str:
        gate, because = entry.text("gate"), entry.text("because")
        key = f"{entry.step} {gate}"
        before = self._waits.pop(key, None)
        if entry.text("answer") == "go":
            return f"goes on: {gate}: {because}" if before is not None else ""
        verb = "waits" if entry.text("answer") == "wait" else "refused"
        said = f"{verb}: {gate}: {because}"
        if before is not None and before[0] == said and entry.at - before[1] < _REPEAT_INTERVAL:
            self._waits[key] = before
            return ""
        self._waits[key] = (said, entry.at)
        return said

    def _hold(self, entry: JournalEntry) -> str:
        if entry.event is EntryType.HELD:
            return f"held: {hold_summary(parse_hold_entry(entry))}"
        known = self._progress.held.get(entry.text("key"))
        return f"given back: {entry.text('key') if known is None else hold_summary(known)}"


def _kept_line(label: str, text: str, style: str = "") -> Cell:
    return Cell(escape_control(f"{label:<8} {text}"), style)


def _wait(entry: JournalEntry) -> float:
    found = entry.data.get("wait")
    return float(found) if isinstance(found, int | float) else 0.0


def _entry_text(entry: JournalEntry) -> str:
    problem = entry.data.get("problem")
    if not isinstance(problem, dict):
        return ""
    return f"{problem.get('what', '')} ({problem.get('code', '')})"
