"""Each fault once: what can be overcome is, what cannot stops the run, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.fault_rows import NOT_HERE, ROWS, Row, ending_of
from tests.acceptance.invariants import Watch
from tests.acceptance.process import Process
from tests.acceptance.troubles import strikes, taken_back

OWN_BOOKKEEPING = {"journal", "lock"}
ELSEWHERE = {"F61", "F62", "F63", "F64", "F66", "F67", "F71"}
"""Faults that have tests of their own in `test_other_hands.py`."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number} {row.what}")
def test_a_fault_is_overcome_or_stops_the_run(row: Row, tmp_path: Path) -> None:
    scene = row.scene(tmp_path)
    scene.allowed[row.again] += 1
    if row.arrange is not None:
        row.arrange(scene)
    watch = Watch(scene, is_broken=row.breaks)
    process, meddled = Process(dies_when=row.kill), list[str]()
    if row.meddling is not None:
        process.watchers.append(row.meddling.watcher(scene, meddled))
    before = strikes(scene)

    first = scene.apply(process, row.wish, watchers=(watch,))

    how = ending_of(first)
    assert row.first in (how, "any"), (how, first.why)
    assert all(count > before[name] for name, count in strikes(scene).items()), strikes(scene)
    assert bool(meddled) is (row.meddling is not None)
    if row.why:
        assert any(one.startswith(row.why) for one in first.why), first.why
    if row.writes_nothing:
        assert {write.system for write in process.writes} <= OWN_BOOKKEEPING
    (row.relieve or taken_back)(scene)
    taken_back(scene)
    watch.foreign = dict(Watch(scene).foreign)
    if how == "done":
        second = first
    elif row.then == "resume" and first.refused == ():
        second = scene.resume(watchers=(watch,))
    else:
        second = scene.apply(None, row.wish, watchers=(watch,))
    assert second.is_done, (second.why, second.outcome)
    if row.flaws is not None:
        assert row.flaws(scene) == []
    assert scene.plan(row.wish).plan.steps == ()
    assert watch.over(second) == []


def test_every_row_shows_that_its_fault_struck() -> None:
    silent = [
        row.number
        for row in ROWS
        if row.first == "done" and row.arrange is None and row.meddling is None and not row.flaws
    ]

    assert silent == []


def test_every_fault_has_a_row_or_a_reason() -> None:
    wanted = {f"F{number}" for number in (*range(1, 29), *range(61, 72))}

    tried = {row.number.rstrip("bcd") for row in ROWS} | NOT_HERE.keys() | ELSEWHERE

    assert wanted - tried == set()
