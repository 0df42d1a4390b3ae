"""What happens in a run, for whoever watches it: lines of JSON without secrets."""

from __future__ import annotations

import json

from stockman.engine.entry import Entry
from stockman.steps.form import written


def event_line(entry: Entry) -> str:
    """An entry of the journal as one line of JSON."""
    return json.dumps(written(entry), separators=(",", ":"), ensure_ascii=False)


def event_text(entry: Entry) -> str:
    """An entry of the journal as a line for people."""
    about = entry.step or "run"
    said = entry.text("because") or entry.text("text") or entry.text("result")
    problem = entry.data.get("problem")
    if isinstance(problem, dict):
        said = f"{problem.get('code', '')}: {problem.get('what', '')}"
    line = f"{entry.at:%H:%M:%S} {about}: {entry.event.value}"
    return f"{line} ({said})" if said else line
