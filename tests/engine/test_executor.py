"""How steps are carried out: side by side, with patience, and never on faith."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

import pytest

from stockman.engine.context import RunSettings, StopRequest
from stockman.engine.executor import RunOutcome
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.lifecycle import RunOptions, abort_run, resume_run, start_run
from stockman.engine.state import RunResult, StepProgress
from stockman.model.errors import Busy, Refused, StockmanError, Uncertain, Unreachable
from stockman.model.record import record
from stockman.steps.base import Checkpoint, Verdict
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports
from stockman.steps.step import Retry
from tests.engine.simulated import MORNING, LoopClock, virtually
from tests.engine.storage import times, trouble
from tests.engine.toys import (
    ONE_AT_A_TIME,
    Break,
    Exists,
    Flag,
    Later,
    Make,
    Pretend,
    Scene,
    make,
    pieces,
    plan_of,
    way,
)


class Log:
    """Entries as somebody who watches sees them."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []

    def __call__(self, entry: JournalEntry) -> None:
        self.entries.append(entry)

    @property
    def told(self) -> list[str]:
        return [f"{entry.event.value} {entry.step}".strip() for entry in self.entries]


def carried_out(scene: Scene, plan: Plan, how: RunOptions | None = None) -> RunOutcome:
    home, ports = scene.process()
    return asyncio.run(start_run(home, plan, ports, how or way()))


def with_trouble(scene: Scene, plan: Plan, kind: type[StockmanError], count: int) -> RunOutcome:
    home, ports = scene.process()
    scene.objects.troubles.append(times(kind, "put", count))
    return asyncio.run(start_run(home, plan, ports, way()))


def test_every_effect_stands_between_two_entries() -> None:
    log = Log()

    outcome = carried_out(Scene(), plan_of(make("a"), make("b", "a")), way(watchers=(log,)))

    assert outcome.result is RunResult.DONE
    assert log.told == [
        "accepted",
        "started a",
        "finished a",
        "started b",
        "finished b",
        "ended",
    ]


def test_what_is_true_already_is_finished_without_being_started() -> None:
    scene, log = Scene(), Log()
    scene.world.content["a"] = b"made"

    outcome = carried_out(scene, plan_of(make("a")), way(watchers=(log,)))

    assert log.told == ["accepted", "finished a", "ended"]
    assert outcome.state.step("a").already
    assert scene.world.writes["a"] == 0


def test_a_step_that_only_says_that_it_is_done_has_failed() -> None:
    outcome = carried_out(Scene(), plan_of(make("a", action=Pretend(key="a"))))

    assert outcome.result is RunResult.FAILED
    assert [problem.code for problem in outcome.problems] == ["run.not-done"]


def test_after_a_failure_nothing_new_begins() -> None:
    scene = Scene()
    plan = plan_of(make("a", action=Break(key="a"), seconds=9.0), make("b"), make("c", "a"))

    outcome = carried_out(scene, plan, way(settings=ONE_AT_A_TIME))

    assert outcome.result is RunResult.FAILED
    assert scene.world.writes.total() == 0
    assert outcome.state.step("b").progress is StepProgress.WAITING


@pytest.mark.parametrize("kind", [Unreachable, Busy, Uncertain])
def test_what_nobody_answered_is_tried_again(kind: type[StockmanError]) -> None:
    scene = Scene()

    outcome = with_trouble(scene, plan_of(make("a")), kind, 2)

    assert outcome.result is RunResult.DONE
    assert outcome.state.step("a").attempts == 3
    assert scene.world.writes["a"] == 1


def test_it_is_not_tried_more_often_than_the_step_says() -> None:
    outcome = with_trouble(Scene(), plan_of(make("a")), Unreachable, 3)

    assert outcome.result is RunResult.FAILED
    assert outcome.state.step("a").attempts == 3


@pytest.mark.parametrize("kind", [Unreachable, Uncertain])
@pytest.mark.parametrize("times", [2, 3], ids=["a later one did not", "none did not"])
def test_the_journal_tells_why_each_attempt_failed(kind: type[StockmanError], times: int) -> None:
    outcome = with_trouble(Scene(), plan_of(make("a")), kind, times)

    troubles = outcome.state.step("a").failed_attempts
    assert [trouble.attempt for trouble in troubles] == list(range(1, times + 1))
    assert {(trouble.code, trouble.what) for trouble in troubles} == {
        ("objects.unreachable", "no answer")
    }


def test_other_refusals_are_not_tried_again() -> None:
    outcome = with_trouble(Scene(), plan_of(make("a")), Refused, 1)

    assert outcome.result is RunResult.FAILED
    assert outcome.state.step("a").attempts == 1


@record
class Unsure(Make):
    """Works, and says that it does not know."""

    kind: ClassVar[str] = "test.unsure"

    async def run(self, ports: Ports) -> None:
        await ports.to_objects().put(self.key, pieces("made"))
        raise trouble(Uncertain, self.key)


def test_an_effect_that_nobody_is_sure_of_is_looked_at_and_not_repeated() -> None:
    scene, log = Scene(), Log()

    outcome = carried_out(scene, plan_of(make("a", action=Unsure(key="a"))), way(watchers=(log,)))

    assert outcome.result is RunResult.DONE
    assert log.told == ["accepted", "started a", "unknown a", "finished a", "ended"]
    assert [attempt.attempt for attempt in outcome.state.step("a").failed_attempts] == [1]
    assert scene.world.writes["a"] == 1


def test_a_gate_is_waited_for_while_others_work() -> None:
    scene = Scene()
    plan = plan_of(make("a", gates=(Exists(key="c"),), seconds=9.0), make("b"), make("c", "b"))

    outcome = carried_out(scene, plan)

    assert outcome.result is RunResult.DONE
    assert outcome.state.step("a").gate == "c is there: 1 of 1"


def test_a_gate_that_stays_closed_ends_with_the_deadline() -> None:
    scene = Scene()

    outcome = carried_out(scene, plan_of(make("a", gates=(Exists(key="z"),), deadline=50.0)))

    assert [problem.code for problem in outcome.problems] == ["run.deadline"]
    assert "z is there: 0 of 1" in outcome.problems[0].why
    assert scene.clock.moment - MORNING < timedelta(seconds=60)


def test_a_gate_that_refuses_ends_the_run_as_refused() -> None:
    outcome = carried_out(Scene(), plan_of(make("a", gates=(Exists(key="z", never=True),))))

    assert outcome.result is RunResult.REFUSED
    assert [problem.code for problem in outcome.problems] == ["run.gate"]


def test_what_is_too_early_is_left_while_everything_else_is_done() -> None:
    scene = Scene()
    plan = plan_of(
        make("a", gates=(Later(key="z"),), seconds=9.0),
        make("b", "a"),
        make("c"),
        make("d", "c"),
    )

    outcome = carried_out(scene, plan, way(settings=ONE_AT_A_TIME))

    assert outcome.result is RunResult.REFUSED
    assert [problem.code for problem in outcome.problems] == ["run.too-early"]
    assert sorted(one for one in "abcd" if outcome.state.is_done(one)) == ["c", "d"]


def test_a_failure_ends_a_run_also_where_something_is_too_early() -> None:
    scene = Scene()
    plan = plan_of(
        make("a", gates=(Later(key="z"),), seconds=9.0),
        make("b", seconds=5.0, action=Break(key="b")),
        make("c"),
    )

    outcome = carried_out(scene, plan, way(settings=ONE_AT_A_TIME))

    assert outcome.result is RunResult.FAILED
    assert outcome.problems[0].code == "run.too-early"
    assert not outcome.state.is_done("c")


def test_a_closed_gate_says_so_seldom() -> None:
    log = Log()

    carried_out(
        Scene(),
        plan_of(make("a", gates=(Exists(key="z"),), deadline=300.0)),
        way(watchers=(log,)),
    )

    assert 5 <= log.told.count("gate a") <= 11


def test_a_checkpoint_waits_for_its_gates_alone() -> None:
    scene = Scene()
    wait = make("w", action=Checkpoint(text="wait for b"), gates=(Exists(key="b"),))

    outcome = carried_out(scene, plan_of(wait, make("b"), make("c", "w")))

    assert outcome.result is RunResult.DONE
    assert outcome.state.step("w").gate == "b is there: 1 of 1"


def test_a_hold_of_several_steps_is_taken_once_and_given_back_after_the_last() -> None:
    scene, log = Scene(), Log()
    red = (Flag(name="red"),)

    carried_out(
        scene,
        plan_of(make("a", holds=red), make("b", "a", holds=red), make("c", "b")),
        way(watchers=(log,)),
    )

    assert scene.world.writes["flag/red"] == 2
    assert log.told.count("held a") == 1
    assert log.told.index("released") == log.told.index("finished b") + 1


def test_holds_are_given_back_when_a_step_fails() -> None:
    scene = Scene()
    plan = plan_of(make("a", action=Break(key="a"), holds=(Flag(name="blue"),)))

    outcome = carried_out(scene, plan)

    assert outcome.result is RunResult.FAILED
    assert scene.made["flag/blue"] == "half"
    assert not outcome.state.held


def test_a_hold_that_cannot_be_given_back_is_told_and_given_back_later() -> None:
    scene = Scene()
    plan = plan_of(make("a", holds=(Flag(name="red"),)))
    home, ports = scene.process()

    def broken(call: str, key: str) -> StockmanError | None:
        is_back = call == "put" and key == "flag/red" and scene.made["flag/red"] == "down"
        return trouble(Refused, key) if is_back else None

    scene.objects.troubles.append(broken)
    outcome = asyncio.run(start_run(home, plan, ports, way()))

    assert outcome.result is RunResult.FAILED
    assert [problem.code for problem in outcome.problems] == ["run.hold-kept"]
    home, ports = scene.process()
    assert asyncio.run(abort_run(home, outcome.state.run, ports, way())).result is RunResult.ABORTED
    assert scene.made["flag/red"] == "up"


@record
class Busywork(Make):
    """Takes ten seconds, and knows who else is at it."""

    kind: ClassVar[str] = "test.busywork"
    now: ClassVar[int] = 0
    most: ClassVar[int] = 0

    async def run(self, ports: Ports) -> None:
        Busywork.now += 1
        Busywork.most = max(Busywork.most, Busywork.now)
        await ports.clock.sleep(10)
        Busywork.now -= 1
        await super().run(ports)


def busy(plan: Plan, settings: RunSettings | None = None) -> tuple[int, timedelta]:
    """How many were at work at once, and how long it took."""
    Busywork.most = Busywork.now = 0
    scene = Scene()
    carried_out(scene, plan, way(settings=settings or RunSettings()))
    return Busywork.most, scene.clock.moment - MORNING


def test_steps_that_need_nothing_of_each_other_run_side_by_side() -> None:
    steps = [make(name, action=Busywork(key=name)) for name in "abcdef"]

    most, took = busy(plan_of(*steps))

    assert most == 6
    assert took < timedelta(seconds=15)


def test_no_more_run_side_by_side_than_allowed() -> None:
    steps = [make(name, action=Busywork(key=name)) for name in "abcdef"]

    assert busy(plan_of(*steps), settings=RunSettings(max_parallel=2))[0] == 2


def test_a_lane_holds_one_step_unless_the_plan_says_more() -> None:
    steps = [make(name, action=Busywork(key=name), lanes=("disk",)) for name in "abcd"]

    assert busy(plan_of(*steps))[0] == 1
    assert busy(plan_of(*steps, lanes={"disk": 3}))[0] == 3


def test_what_most_waits_for_begins_first() -> None:
    log = Log()
    plan = plan_of(make("short"), make("long"), make("after", "long", seconds=60.0))

    carried_out(Scene(), plan, way(watchers=(log,), settings=ONE_AT_A_TIME))

    assert log.told[1] == "started long"


def test_asked_to_stop_a_run_finishes_what_has_begun_and_gives_back() -> None:
    scene, stop = Scene(), StopRequest()

    def watch(entry: JournalEntry) -> None:
        if entry.event is EntryType.STARTED:
            stop.request()

    plan = plan_of(make("a", holds=(Flag(name="red"),)), make("b", "a"))
    outcome = carried_out(scene, plan, way(stop, watchers=(watch,)))

    assert outcome.result is RunResult.PAUSED
    assert outcome.state.is_done("a")
    assert scene.made["flag/red"] == "up"
    assert "b" not in scene.made


def test_a_run_that_was_stopped_goes_on_where_it_was() -> None:
    scene, stop = Scene(), StopRequest()
    plan = plan_of(make("a"), make("b", "a"))
    stopped = carried_out(scene, plan, way(stop, watchers=(lambda _: stop.request(),)))
    home, ports = scene.process()

    outcome = asyncio.run(resume_run(home, stopped.state.run, ports, way()))

    assert outcome.result is RunResult.DONE
    assert scene.made["b"] == "made"


def test_asked_to_stop_at_a_gate_a_step_waits_no_longer() -> None:
    scene, stop = Scene(), StopRequest()

    def watch(entry: JournalEntry) -> None:
        if entry.event is EntryType.GATE:
            stop.request()

    plan = plan_of(make("a", gates=(Exists(key="z"),)))
    outcome = carried_out(scene, plan, way(stop, watchers=(watch,)))

    assert outcome.result is RunResult.PAUSED
    assert scene.clock.moment - MORNING < timedelta(seconds=3)


def test_asked_twice_it_leaves_everything_as_it_is() -> None:
    scene, stop = Scene(), StopRequest()

    def watch(entry: JournalEntry) -> None:
        if entry.event is EntryType.STARTED:
            stop.request()
            stop.request()

    plan = plan_of(make("a", action=Busywork(key="a"), holds=(Flag(name="red"),)))
    home, ports = scene.process()
    story = start_run(home, plan, replace(ports, clock=LoopClock()), way(stop, watchers=(watch,)))
    outcome = virtually(story)

    assert outcome.result is RunResult.PAUSED
    assert list(outcome.state.held) == [Flag(name="red").part_key]
    home, ports = scene.process()
    assert asyncio.run(resume_run(home, outcome.state.run, ports, way())).result is RunResult.DONE
    assert scene.made["flag/red"] == "up"


@record
class Hang(Make):
    """Never comes back; what it should do may have happened."""

    kind: ClassVar[str] = "test.hang"
    works: bool

    async def run(self, ports: Ports) -> None:
        if self.works:
            await super().run(ports)
        await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize(("works", "result"), [(True, RunResult.DONE), (False, RunResult.FAILED)])
def test_a_call_that_never_returns_ends_with_the_deadline_and_is_looked_at(
    works: bool, result: RunResult
) -> None:
    scene = Scene()
    home, ports = scene.process()
    plan = plan_of(make("a", action=Hang(key="a", works=works), deadline=30.0))

    outcome = virtually(start_run(home, plan, replace(ports, clock=LoopClock()), way()))

    assert outcome.result is result


def test_a_plan_is_refused_when_what_it_touches_has_moved() -> None:
    scene = Scene()
    plan = plan_of(make("a"), touched={"object/a": "absent"})

    async def now(ports: Ports, names: object) -> dict[str, str]:
        return {"object/a": "present"}

    with pytest.raises(Refused, match=r"plan\.moved"):
        carried_out(scene, plan, way(fingerprint=now))

    assert scene.world.writes.total() == 0


def test_a_finished_run_is_not_resumed() -> None:
    scene = Scene()
    outcome = carried_out(scene, plan_of(make("a")))
    home, ports = scene.process()

    with pytest.raises(Refused, match=r"run\.over"):
        asyncio.run(resume_run(home, outcome.state.run, ports, way()))


def test_a_failed_run_is_resumed_with_the_step_that_failed() -> None:
    scene = Scene()
    failed = with_trouble(scene, plan_of(make("a"), make("b", "a")), Refused, 1)
    home, ports = scene.process()

    outcome = asyncio.run(resume_run(home, failed.state.run, ports, way()))

    assert outcome.result is RunResult.DONE
    assert outcome.state.step("a").attempts == 2


def test_whoever_watches_is_told_that_a_run_goes_on_and_which_it_is() -> None:
    scene, first, again = Scene(), Log(), Log()
    home, ports = scene.process()
    scene.objects.troubles.append(times(Refused, "put", 1))
    failed = asyncio.run(start_run(home, plan_of(make("a")), ports, way(watchers=(first,))))
    home, ports = scene.process()

    asyncio.run(resume_run(home, failed.state.run, ports, way(watchers=(again,))))

    assert first.entries[0].text("run") == failed.state.run
    assert again.told == ["note", "started a", "finished a", "ended"]


def test_whoever_watches_is_told_that_a_run_is_given_up() -> None:
    scene, log = Scene(), Log()
    failed = with_trouble(scene, plan_of(make("a")), Refused, 1)
    home, ports = scene.process()

    asyncio.run(abort_run(home, failed.state.run, ports, way(watchers=(log,))))

    assert log.told == ["note", "ended"]


def test_without_the_lock_nothing_has_an_effect() -> None:
    scene = Scene()
    home, ports = scene.process()

    def thief(entry: JournalEntry) -> None:
        if entry.event is EntryType.FINISHED:
            number = max(key for key in scene.kept.content if key.startswith("lock/"))
            taken = scene.kept.content[number].replace(b'"anna"', b'"bert"')
            nonce = taken.index(b'"nonce": "') + 10
            taken = taken[:nonce] + b"0" * 16 + taken[nonce + 16 :]
            after = int(number[5:11]) + 1
            scene.kept.content[f"lock/{after:06d}.json"] = taken

    plan = plan_of(make("a"), make("b", "a"))
    outcome = asyncio.run(start_run(home, plan, ports, way(watchers=(thief,))))

    assert outcome.result is RunResult.FAILED
    assert [problem.code for problem in outcome.problems] == ["lock.lost"]
    assert "b" not in scene.made


def test_waits_between_attempts_grow_and_differ() -> None:
    scene = Scene()
    plan = plan_of(make("a", retry=Retry(attempts=5, first_wait=8.0, longest_wait=20.0)))

    with_trouble(scene, plan, Unreachable, 4)

    passed = (scene.clock.moment - MORNING).total_seconds()
    assert 4 + 8 + 10 + 10 <= passed <= 8 + 16 + 20 + 20 + 8


@record
class Asked(Exists):
    """A gate that counts how many are asked at the same moment."""

    kind: ClassVar[str] = "test.asked"
    now: ClassVar[int] = 0
    most: ClassVar[int] = 0

    async def check(self, ports: Ports) -> Verdict:
        Asked.now += 1
        Asked.most = max(Asked.most, Asked.now)
        await ports.clock.sleep(1.0)
        Asked.now -= 1
        return await super().check(ports)


def test_all_gates_of_a_step_are_asked_at_once_and_told_in_their_order() -> None:
    Asked.most, log, scene = 0, Log(), Scene()
    gates = (Asked(key="a"), Asked(key="b"))
    plan = plan_of(make("a"), make("b"), make("c", "a", "b", gates=gates))

    carried_out(scene, plan, way(watchers=(log,)))

    rows = [entry.text("gate") for entry in log.entries if entry.event is EntryType.GATE]
    assert rows == [gate.summary for gate in gates]
    assert Asked.most == 2


def test_a_gate_behind_a_closed_one_is_not_told() -> None:
    log = Log()
    gates = (Exists(key="z"), Exists(key="y", never=True))

    carried_out(Scene(), plan_of(make("a", gates=gates, deadline=5.0)), way(watchers=(log,)))

    rows = {entry.text("gate") for entry in log.entries if entry.event is EntryType.GATE}
    assert rows == {gates[0].summary}


@record
class Watched(Make):
    """Counts how often it is looked at."""

    kind: ClassVar[str] = "test.watched"
    looks: ClassVar[int] = 0

    async def done(self, ports: Ports) -> bool:
        Watched.looks += 1
        return await super().done(ports)


@pytest.mark.parametrize(("waits", "looks"), [(False, 2), (True, 3)])
def test_what_had_to_wait_for_a_gate_is_looked_at_again(*, waits: bool, looks: int) -> None:
    Watched.looks = 0
    needs = () if waits else ("slow",)
    slow = make("slow", action=Busywork(key="slow"))
    step = make("w", *needs, action=Watched(key="w"), gates=(Exists(key="slow"),))

    carried_out(Scene(), plan_of(slow, step))

    assert Watched.looks == looks


@record
class Slow(Watched):
    """Takes its time to say whether it is done."""

    kind: ClassVar[str] = "test.slow"
    seconds: float = 0.0

    async def done(self, ports: Ports) -> bool:
        await ports.clock.sleep(self.seconds)
        return await super().done(ports)


@record
class Counted(Exists):
    """A gate that counts how often it is asked, and whether anybody has looked before."""

    kind: ClassVar[str] = "test.counted"
    asked: ClassVar[int] = 0
    looks: ClassVar[int] = 0

    async def check(self, ports: Ports) -> Verdict:
        Counted.asked += 1
        Counted.looks = Watched.looks
        return await super().check(ports)


@pytest.mark.parametrize(("seconds", "count"), [(0.5, 1), (5.0, 2)], ids=["soon", "late"])
def test_gates_are_asked_while_one_looks_and_again_where_that_took_long(
    seconds: float, count: int
) -> None:
    Counted.asked, Watched.looks = 0, 0
    step = make("w", "a", action=Slow(key="w", seconds=seconds), gates=(Counted(key="a"),))

    outcome = carried_out(Scene(), plan_of(make("a"), step))

    assert outcome.result is RunResult.DONE
    assert Counted.asked == count
    assert Counted.looks == count - 1


def test_a_closed_gate_does_not_matter_to_what_is_done_already() -> None:
    scene, log = Scene(), Log()
    carried_out(scene, plan_of(make("a")))

    gates = (Exists(key="z", never=True),)
    outcome = carried_out(scene, plan_of(make("a", gates=gates)), way(watchers=(log,)))

    assert outcome.result is RunResult.DONE
    assert "gate a" not in log.told


@record
class Remembering(Make):
    """Keeps what it saw, and is idle before it acts and between its attempts."""

    kind: ClassVar[str] = "test.remembering"
    idle: float = 0.0
    found: ClassVar[list[object]] = []

    async def done(self, ports: Ports) -> bool:
        ports.read_cache.store(self.key, "seen")
        return await super().done(ports)

    async def run(self, ports: Ports) -> None:
        await ports.clock.sleep(self.idle)
        Remembering.found = [ports.read_cache.take(self.key), ports.read_cache.take(self.key)]
        await super().run(ports)


@pytest.mark.parametrize(("idle", "first"), [(0.5, "seen"), (1.0, None)])
def test_what_a_step_saw_is_known_once_and_not_for_long(idle: float, first: object) -> None:
    carried_out(Scene(), plan_of(make("a", action=Remembering(key="a", idle=idle))))

    assert Remembering.found == [first, None]


def test_steps_do_not_know_what_others_saw() -> None:
    first, second = (
        make("a", action=Remembering(key="k")),
        make("b", "a", action=Forgetful(key="k")),
    )

    carried_out(Scene(), plan_of(first, second))

    assert Forgetful.found == [None]


@record
class Forgetful(Make):
    """Looks for what somebody else saw of the same thing."""

    kind: ClassVar[str] = "test.forgetful"
    found: ClassVar[list[object]] = []

    async def done(self, ports: Ports) -> bool:
        Forgetful.found = [ports.read_cache.take(self.key)]
        return await super().done(ports)
