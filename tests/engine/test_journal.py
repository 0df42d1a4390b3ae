"""Journals: what is written stays, what is torn is cut, what is damaged is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.engine.journal import (
    JOURNAL_SCHEMA,
    MAX_LINE_BYTES,
    EntryType,
    Journal,
    JournalLines,
    JournalLost,
    open_journal,
    parse_journal,
)
from stockman.engine.runs import JOURNAL, LocalJournalLines, LocalRunStore, ObjectRunStore
from stockman.engine.state import RunResult, StepProgress, fold_entries
from stockman.model.errors import NotFound, Refused, Uncertain, Unreachable
from stockman.model.secret import Secret
from tests.engine.simulated import Dice, JumpClock, LoopClock, virtually
from tests.engine.storage import SlowStored, Storage, Stored, times

EVENTS: list[tuple[EntryType, str, dict[str, object]]] = [
    (
        EntryType.ACCEPTED,
        "",
        {"schema": JOURNAL_SCHEMA, "cluster": "toy", "plan": "d", "by": "anna"},
    ),
    (EntryType.GATE, "a", {"gate": "it is dry", "answer": "go", "because": "0 of 3 wet"}),
    (EntryType.HELD, "a", {"key": "k", "hold": {"kind": "test.flag", "name": "red"}, "prior": [1]}),
    (EntryType.STARTED, "a", {"attempt": 1}),
    (EntryType.UNKNOWN, "a", {"problem": {"what": "no answer"}}),
    (EntryType.FINISHED, "a", {}),
    (EntryType.STARTED, "b", {"attempt": 1}),
    (EntryType.FAILED, "b", {"problem": {"what": "no room"}}),
    (EntryType.RELEASED, "", {"key": "k"}),
    (EntryType.ENDED, "", {"result": "failed"}),
]


async def filled(lines: JournalLines) -> Journal:
    journal = await open_journal(lines, JumpClock())
    for event, step, data in EVENTS:
        await journal.append(event, step, data)
    return journal


def local(tmp_path: Path) -> LocalJournalLines:
    return LocalJournalLines(tmp_path / JOURNAL)


def read_again(lines: JournalLines) -> Journal:
    return asyncio.run(open_journal(lines, JumpClock()))


def test_entries_are_the_same_after_they_were_read(tmp_path: Path) -> None:
    written = asyncio.run(filled(local(tmp_path)))

    assert read_again(local(tmp_path)).entries == written.entries


def test_a_journal_is_the_same_in_a_file_and_in_a_bucket(tmp_path: Path) -> None:
    objects = Stored(Storage())

    async def in_a_bucket() -> Journal:
        runs = ObjectRunStore(objects, JumpClock())
        return await filled(await runs.create("one", "{}"))

    in_a_file = asyncio.run(filled(local(tmp_path)))

    assert asyncio.run(in_a_bucket()).entries == in_a_file.entries


def test_what_is_added_is_written_with_the_next_that_is_appended(tmp_path: Path) -> None:
    async def story() -> tuple[int, Journal]:
        journal = await open_journal(local(tmp_path), JumpClock())
        await journal.append(*EVENTS[0])
        journal.add(*EVENTS[1])
        before = len(journal.entries)
        await journal.append(*EVENTS[3])
        return before, journal

    before, journal = asyncio.run(story())

    assert before == 1
    assert [entry.event for entry in journal.entries] == [EVENTS[i][0] for i in (0, 1, 3)]
    assert read_again(local(tmp_path)).entries == journal.entries


def test_entries_come_to_a_state() -> None:
    journal = asyncio.run(filled(_memory()))

    state = fold_entries("one", journal.entries)

    assert state.cluster == "toy"
    assert state.result is RunResult.FAILED
    assert state.step("a").progress is StepProgress.DONE
    assert state.step("a").gate == "it is dry: 0 of 3 wet"
    assert state.step("b").problem == {"what": "no room"}
    assert state.held == {}


def test_what_is_held_is_known_with_what_was_there_before() -> None:
    journal = asyncio.run(filled(_memory()))

    held = fold_entries("one", journal.entries[:5]).held["k"]

    assert held.prior == [1]
    assert held.hold == {"kind": "test.flag", "name": "red"}


@given(st.integers(1, 5_000))
def test_a_file_that_ends_anywhere_is_read_up_to_its_last_whole_line(lost: int) -> None:
    content = _content()

    kept = content[: max(len(content) - lost, 0)]
    whole = kept[: kept.rfind(b"\n") + 1]
    entries, _ = parse_journal(whole, "journal")

    assert len(entries) == kept.count(b"\n")


def test_a_torn_line_is_cut_before_the_next_is_written(tmp_path: Path) -> None:
    lines = local(tmp_path)
    asyncio.run(filled(lines))
    file = tmp_path / JOURNAL
    file.write_bytes(file.read_bytes() + b'[{"number":11,"at"')

    async def go_on() -> None:
        journal = await open_journal(local(tmp_path), JumpClock())
        await journal.append(EntryType.NOTE, "", {"text": "on"})

    asyncio.run(go_on())

    assert [entry.number for entry in read_again(local(tmp_path)).entries] == list(range(1, 12))


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_byte_that_changed_anywhere_is_noticed(place: int, change: int) -> None:
    content = bytearray(_content())
    place %= len(content) - 1
    content[place] ^= change

    with pytest.raises(Refused, match=r"journal\.damaged"):
        parse_journal(bytes(content), "journal")


@given(st.integers(0, 8))
def test_a_line_that_was_taken_out_is_noticed(number: int) -> None:
    lines = _content().splitlines(keepends=True)
    del lines[number]

    with pytest.raises(Refused, match=r"journal\.damaged"):
        parse_journal(b"".join(lines), "journal")


def test_a_journal_of_another_schema_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        journal = await open_journal(local(tmp_path), JumpClock())
        await journal.append(EntryType.ACCEPTED, "", {"schema": "stockman.journal/9"})

    asyncio.run(story())

    with pytest.raises(Refused, match=r"journal\.schema"):
        read_again(local(tmp_path))


def test_a_secret_cannot_be_written(tmp_path: Path) -> None:
    async def story() -> None:
        journal = await open_journal(local(tmp_path), JumpClock())
        await journal.append(EntryType.NOTE, "", {"text": Secret("hunter2")})

    with pytest.raises(TypeError, match="Secret cannot be in a plan"):
        asyncio.run(story())
    assert not (tmp_path / JOURNAL).exists()


def test_a_line_has_a_longest_length(tmp_path: Path) -> None:
    async def story() -> None:
        journal = await open_journal(local(tmp_path), JumpClock())
        await journal.append(EntryType.NOTE, "", {"text": "x" * MAX_LINE_BYTES})

    with pytest.raises(Refused, match=r"journal\.too-long"):
        asyncio.run(story())


class Killed(BaseException):
    """The process ends here."""


def test_a_run_whose_creation_was_killed_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = LocalRunStore(tmp_path / "runs")

    def kill(_: int) -> None:
        raise Killed

    monkeypatch.setattr("os.fsync", kill)
    with pytest.raises(Killed):
        asyncio.run(runs.create("first", "{}"))

    assert asyncio.run(runs.list_runs()) == ()


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    runs = LocalRunStore(tmp_path / "runs")

    async def story() -> None:
        await filled(await runs.create("one", "{}"))

    asyncio.run(story())

    modes = {
        file.name: file.stat().st_mode & 0o777 for file in (tmp_path / "runs" / "one").iterdir()
    }
    assert modes == {"plan.json": 0o600, "journal.jsonl": 0o600}


def test_two_who_write_the_same_journal_do_not_both_go_on(tmp_path: Path) -> None:
    async def story() -> None:
        one = await filled(local(tmp_path))
        journal = await open_journal(local(tmp_path), JumpClock())
        await journal.append(EntryType.NOTE, "", {"text": "mine"})
        await one.append(EntryType.NOTE, "", {"text": "mine, too"})

    with pytest.raises(JournalLost, match=r"journal\.taken"):
        asyncio.run(story())


def test_two_who_write_the_same_segment_do_not_both_go_on() -> None:
    storage = Storage()

    async def story() -> None:
        runs = ObjectRunStore(Stored(storage), JumpClock())
        one = await filled(await runs.create("one", "{}"))
        journal = await open_journal(await runs.lines("one"), JumpClock())
        await journal.append(EntryType.NOTE, "", {"text": "mine"})
        await one.append(EntryType.NOTE, "", {"text": "mine, too"})

    with pytest.raises(JournalLost, match=r"journal\.taken"):
        asyncio.run(story())


@pytest.mark.parametrize("kind", [Uncertain, Unreachable])
def test_a_segment_is_written_in_spite_of_trouble(kind: type[Unreachable | Uncertain]) -> None:
    objects = Stored(Storage())
    objects.troubles.append(times(kind, "create", 4))

    async def story() -> Journal:
        runs = ObjectRunStore(objects, JumpClock())
        return await filled(await runs.create("one", "{}"))

    assert len(asyncio.run(story()).entries) == len(EVENTS)


def test_entries_of_steps_side_by_side_are_written_together() -> None:
    storage = Storage()

    async def story() -> Journal:
        runs = ObjectRunStore(SlowStored(storage, Dice(), LoopClock()), LoopClock())
        journal = await open_journal(await runs.create("one", "{}"), LoopClock())
        await journal.append(*EVENTS[0])
        await asyncio.gather(*(journal.append(EntryType.STARTED, f"s{n}") for n in range(9)))
        return await open_journal(await runs.lines("one"), LoopClock())

    assert len(virtually(story()).entries) == 10
    assert len([key for key in storage.content if "/journal/" in key]) <= 4


def test_a_segment_that_is_missing_is_noticed() -> None:
    storage = Storage()

    async def story() -> None:
        runs = ObjectRunStore(Stored(storage), JumpClock())
        await filled(await runs.create("one", "{}"))
        del storage.content["runs/one/journal/00000004.jsonl"]
        await open_journal(await runs.lines("one"), JumpClock())

    with pytest.raises(Refused, match=r"journal\.damaged"):
        asyncio.run(story())


def test_a_run_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    for runs in (LocalRunStore(tmp_path), ObjectRunStore(Stored(Storage()), JumpClock())):
        with pytest.raises(NotFound, match=r"run\.not-found"):
            asyncio.run(runs.plan("none"))


class _Memory:
    location = "memory"

    def __init__(self) -> None:
        self.content = b""

    async def read(self) -> bytes:
        return self.content

    async def append(self, first: int, lines: bytes) -> None:
        self.content += lines


def _memory() -> _Memory:
    return _Memory()


def _content() -> bytes:
    lines = _memory()
    asyncio.run(filled(lines))
    return lines.content
