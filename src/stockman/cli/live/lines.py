"""Log lines of a run: for pipes and logs, and above the redrawn frame."""

from __future__ import annotations

from datetime import datetime, timedelta

from stockman.cli.live.progress import LiveProgress, attempt_of
from stockman.cli.terminal.styles import escape_control, format_duration
from stockman.cli.terminal.tables import Cell
from stockman.engine.holds import hold_summary
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import parse_hold_entry

_REPEAT_INTERVAL = timedelta(minutes=2)
"""How often a repeated wait is logged."""


class LiveLines:
    """Formats journal entries as log lines; a repeated wait is logged less often.

    Must be called before the entry is added to the progress.
    """

    def __init__(self, progress: LiveProgress) -> None:
        self._progress = progress
        self._waits: dict[str, tuple[str, datetime]] = {}

    def log_line(self, entry: JournalEntry) -> str:
        """Return the log line of an entry. Empty: it is not logged."""
        message = (
            self._gate_message(entry) if entry.event is EntryType.GATE else self._log_message(entry)
        )
        about = entry.step or "run"
        return escape_control(f"{entry.at:%H:%M:%S} {about}: {message}") if message else ""

    def permanent_line(self, entry: JournalEntry) -> Cell | None:
        """Return the line that stays above the frame. None: there is none."""
        summary = self._progress.summary(entry.step) if entry.step else ""
        match entry.event:
            case EntryType.FINISHED if entry.data.get("already") is True:
                return _permanent_line("already", f"{summary}: already done", "faint")
            case EntryType.FINISHED:
                return _permanent_line("done", f"{summary}{self._duration(entry, ' (', ')')}")
            case EntryType.FAILED:
                return _permanent_line("failed", f"{summary}: {_entry_text(entry)}", "error")
            case EntryType.UNKNOWN:
                return _permanent_line("unknown", f"{summary}: {_entry_text(entry)}", "warning")
            case EntryType.RETRIED:
                return _permanent_line("again", f"{summary}: {_entry_text(entry)}", "warning")
            case EntryType.NOTE:
                return _permanent_line("note", entry.text("text"))
            case EntryType.ACCEPTED:
                return _permanent_line("run", self._run_description(entry))
        return None

    def _log_message(self, entry: JournalEntry) -> str:
        match entry.event:
            case EntryType.ACCEPTED:
                return f"accepted: {self._run_description(entry)}"
            case EntryType.STARTED:
                attempt = attempt_of(entry)
                again = f", attempt {attempt}" if attempt > 1 else ""
                return f"started{again}: {self._progress.summary(entry.step)}"
            case EntryType.FINISHED:
                return self._finish_message(entry)
            case EntryType.UNKNOWN | EntryType.FAILED:
                return f"{entry.event.value}: {_entry_text(entry)}"
            case EntryType.RETRIED:
                return f"retrying in {format_duration(_wait(entry))}: {_entry_text(entry)}"
            case EntryType.HELD | EntryType.RELEASED:
                return self._hold_message(entry)
            case EntryType.ENDED:
                return f"ended: {entry.text('result')}"
            case EntryType.NOTE:
                return entry.text("text")
        return str(entry.event.value)

    def _run_description(self, entry: JournalEntry) -> str:
        steps = len(self._progress.plan.steps)
        count = "1 step" if steps == 1 else f"{steps} steps"
        return f"{entry.text('run')}, {count} on cluster {self._progress.plan.cluster}"

    def _finish_message(self, entry: JournalEntry) -> str:
        position = f"{self._progress.finished + 1} of {len(self._progress.plan.steps)}"
        if entry.data.get("already") is True:
            return f"done: no change was needed ({position})"
        return f"done{self._duration(entry, ' in ')} ({position})"

    def _duration(self, entry: JournalEntry, before: str, after: str = "") -> str:
        since = self._progress.started_at(entry.step)
        if since is None:
            return ""
        return f"{before}{format_duration((entry.at - since).total_seconds())}{after}"

    def _gate_message(self, entry: JournalEntry) -> str:
        gate, because = entry.text("gate"), entry.text("because")
        key = f"{entry.step} {gate}"
        before = self._waits.pop(key, None)
        if entry.text("answer") == "go":
            return f"passed: {gate}: {because}" if before is not None else ""
        verb = "waits" if entry.text("answer") == "wait" else "refused"
        message = f"{verb}: {gate}: {because}"
        if before is not None and before[0] == message and entry.at - before[1] < _REPEAT_INTERVAL:
            self._waits[key] = before
            return ""
        self._waits[key] = (message, entry.at)
        return message

    def _hold_message(self, entry: JournalEntry) -> str:
        if entry.event is EntryType.HELD:
            return f"hold acquired: {hold_summary(parse_hold_entry(entry))}"
        known = self._progress.held.get(entry.text("key"))
        return f"hold released: {entry.text('key') if known is None else hold_summary(known)}"


def _permanent_line(label: str, text: str, style: str = "") -> Cell:
    return Cell(escape_control(f"{label:<8} {text}"), style)


def _wait(entry: JournalEntry) -> float:
    seconds = entry.data.get("wait")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _entry_text(entry: JournalEntry) -> str:
    problem = entry.data.get("problem")
    if not isinstance(problem, dict):
        return ""
    return f"{problem.get('what', '')} ({problem.get('code', '')})"
