"""Whole runs through the engine: side by side on lanes, and nothing left to do afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from stockman_lab.pve.host_power import give_power, lose_power
from stockman_lab.servers.port import WorldClock

from stockman.engine.context import RunSettings, StopRequest
from stockman.engine.executor import RunOutcome
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.lifecycle import RunHome, RunOptions, resume_run, start_run
from stockman.engine.object_lock import ObjectLock
from stockman.engine.runs import ObjectRunStore
from stockman.engine.shared_clock import SharedClock
from stockman.engine.state import RunResult
from stockman.steps.plan import Plan
from tests.engine.storage import Storage, Stored
from tests.planning.estate import Estate, Killed

WRITES = ("POST", "PUT", "DELETE")


class Watching:
    """How many steps were under way at once, all together and on every lane."""

    def __init__(self, plan: Plan) -> None:
        self._lanes = {step.id: step.lanes for step in plan.steps}
        self._now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.acted = 0

    def __call__(self, entry: JournalEntry) -> None:
        if entry.step not in self._lanes:
            return
        names = ("", *self._lanes[entry.step])
        if entry.event is EntryType.STARTED:
            self.acted += 1
            self._now.update(names)
            self.most |= self._now
        elif entry.event in (EntryType.FINISHED, EntryType.FAILED):
            self._now.subtract(names)


class Runs:
    """An estate with a home for its runs."""

    def __init__(self, estate: Estate) -> None:
        self.estate = estate
        # Time passes once for all who wait at the same moment.
        estate.clock = SharedClock(WorldClock(estate.world))
        objects, clock = Stored(Storage()), estate.clock
        self.home = RunHome(
            runs=ObjectRunStore(objects, clock), lock=ObjectLock(objects, clock, "s3://flock")
        )

    async def begin(self, plan: Plan, watching: Watching, most: int = 10) -> RunOutcome:
        options = RunOptions(
            by="anna",
            stop=StopRequest(),
            settings=RunSettings(max_parallel=most),
            watchers=(watching,),
        )
        return await start_run(self.home, plan, self.estate.ports(), options)

    def writes(self, since: int) -> list[str]:
        log = self.estate.trigger.log[since:]
        return [line for line in log if line.split(" ")[1] in WRITES]


def seconds(estate: Estate) -> float:
    return estate.world.now


@pytest.mark.parametrize("pve", ["8.4", "9.1"])
async def test_fifteen_machines_are_made_side_by_side_and_the_second_run_writes_nothing(
    pve: str,
) -> None:
    estate = Estate("fifteen-node", pve)
    runs, plan = Runs(estate), (await estate.plan()).plan
    watching = Watching(plan)

    outcome = await runs.begin(plan, watching)
    estate.world.settle()
    before = len(estate.trigger.log)
    again = await estate.plan()
    second = Watching(again.plan)
    await runs.begin(again.plan, second)

    assert outcome.result is RunResult.DONE
    assert 4 <= watching.most[""] <= 10
    assert not [lane for lane, most in watching.most.items() if lane and most > width(plan, lane)]
    assert again.changes == ()
    assert runs.writes(before) == []
    assert second.acted == 0


def width(plan: Plan, lane: str) -> int:
    lanes: Mapping[str, int] = plan.lanes
    return lanes.get(lane, 1)


async def test_a_run_takes_little_longer_than_its_longest_way() -> None:
    estate = Estate("fifteen-node")
    runs, plan = Runs(estate), (await estate.plan()).plan
    begun = seconds(estate)
    await runs.begin(plan, Watching(plan), most=1)
    alone = seconds(estate) - begun
    estate = Estate("fifteen-node")
    runs, begun = Runs(estate), seconds(estate)

    await runs.begin(plan, Watching(plan))

    assert (seconds(estate) - begun) * 4 < alone


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
async def test_a_run_that_was_killed_is_resumed_and_makes_everything_once(
    share: float, *, after: bool
) -> None:
    calls = len((await whole("three-node")).trigger.log)
    estate = Estate("three-node")
    runs, plan = Runs(estate), (await estate.plan()).plan
    estate.trigger.left, estate.trigger.after = int(calls * share), after
    with pytest.raises((Killed, BaseExceptionGroup)):
        await runs.begin(plan, Watching(plan))
    estate.trigger.left = -1
    await estate.clock.sleep(120)

    (run,) = await runs.home.runs.list_runs()
    options = RunOptions(by="anna", stop=StopRequest())
    outcome = await resume_run(runs.home, run, estate.ports(), options)
    estate.world.settle()

    creations = [line for line in estate.trigger.log if line.endswith("/qemu") and "POST" in line]
    assert outcome.result is RunResult.DONE
    assert len(creations) <= 3 + 1
    assert sorted(next(iter(estate.world.clusters.values())).state.guests) == [1030, 1031, 1032]
    assert (await estate.plan()).changes == ()


async def whole(preset: str) -> Estate:
    """An estate after a run that nobody disturbed."""
    estate = Estate(preset)
    runs, plan = Runs(estate), (await estate.plan()).plan
    assert (await runs.begin(plan, Watching(plan))).result is RunResult.DONE
    return estate


async def test_a_host_that_dies_stops_the_run_and_the_next_one_finishes_it() -> None:
    estate = Estate("fifteen-node")
    runs, plan = Runs(estate), (await estate.plan()).plan
    cluster = next(iter(estate.world.clusters.values()))
    watching = Watching(plan)

    def strike(entry: JournalEntry) -> None:
        watching(entry)
        if (entry.event, entry.step) == (EntryType.STARTED, "vms/create/k8s-work-8"):
            lose_power(cluster, cluster.state.hosts["thor"])

    options = RunOptions(by="anna", stop=StopRequest(), watchers=(strike,))
    struck = await start_run(runs.home, plan, estate.ports(), options)
    give_power(cluster, cluster.state.hosts["thor"])
    await estate.clock.sleep(600)

    again = await estate.plan()
    finished = await runs.begin(again.plan, Watching(again.plan))

    desired_vmids = {node.vm.vmid for node in estate.desired.nodes if node.vm is not None}
    assert struck.result is RunResult.FAILED
    assert struck.problems
    assert finished.result is RunResult.DONE
    assert set(cluster.state.guests) == desired_vmids
    assert (await estate.plan()).changes == ()
