"""How long gates were waited for."""

from __future__ import annotations

from datetime import timedelta

from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import GateWait, list_gate_waits
from tests.engine.simulated import MORNING


def entry(after: float, event: EntryType, step: str = "a", **data: object) -> JournalEntry:
    at = MORNING + timedelta(seconds=after)
    return JournalEntry(number=1, at=at, event=event, step=step, data=data)


def asked(after: float, answer: str, gate: str = "quorum", step: str = "a") -> JournalEntry:
    return entry(after, EntryType.GATE, step, gate=gate, answer=answer, because="")


def told(waits: tuple[GateWait, ...]) -> list[tuple[str, str, float, bool]]:
    return [(wait.step, wait.gate, wait.seconds, wait.is_over) for wait in waits]


def test_a_wait_ends_when_its_gate_opens() -> None:
    entries = [asked(0, "wait"), asked(30, "wait"), asked(40, "go"), entry(50, EntryType.STARTED)]

    assert told(list_gate_waits(entries)) == [("a", "quorum", 40.0, True)]


def test_a_gate_that_was_open_is_no_wait() -> None:
    assert list_gate_waits([asked(0, "go"), entry(9, EntryType.STARTED)]) == ()


def test_gates_and_steps_wait_side_by_side() -> None:
    entries = [
        *(asked(0, "wait"), asked(5, "wait", step="b")),
        *(asked(10, "go"), asked(10, "wait", gate="room")),
        *(entry(30, EntryType.FAILED), asked(45, "go", step="b")),
    ]

    assert told(list_gate_waits(entries)) == [
        ("a", "quorum", 10.0, True),
        ("a", "room", 20.0, True),
        ("b", "quorum", 40.0, True),
    ]


def test_a_gate_that_is_still_closed_has_waited_until_the_last_entry() -> None:
    entries = [asked(0, "wait"), entry(20, EntryType.STARTED, step="b")]

    assert told(list_gate_waits(entries)) == [("a", "quorum", 20.0, False)]


def test_time_in_which_nobody_worked_on_the_run_is_no_wait() -> None:
    entries = [
        *(asked(0, "wait"), asked(30, "wait")),
        *(entry(9000, EntryType.NOTE, "", text="resumed", resumed=True), asked(9001, "wait")),
        asked(9005, "go"),
    ]

    assert told(list_gate_waits(entries)) == [
        ("a", "quorum", 30.0, True),
        ("a", "quorum", 4.0, True),
    ]
