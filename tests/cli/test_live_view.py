"""A run as somebody sees it who waits for it."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace

import pytest

from stockman.cli.live.view import LivePlan, live_view
from stockman.cli.output import Output
from stockman.cli.terminal.screen import Screen
from stockman.engine.context import StopRequest
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.lifecycle import start_run
from stockman.engine.state import RunResult
from tests.cli.live_scene import HELD, PLAN, PROBLEM, OnTerminal, entry, waits
from tests.cli.plan_scene import FETCH
from tests.cli.plan_scene import PLAN as SEVERAL_STAGES
from tests.cli.test_screen import BrokenStream
from tests.engine.simulated import LoopClock, virtually
from tests.engine.toys import Exists, Flag, Scene, make, plan_of, way

CREATE = "vms/create/cp-1"
OTHER = "vms/create/cp-2"
ACCEPTED = entry(0, EntryType.ACCEPTED, run="one", cluster="toy")


def logged(
    *entries: JournalEntry, until: float = 0.0, stop: StopRequest | None = None
) -> list[str]:
    """What a log says of entries, and of the time that passes after them."""
    err = io.StringIO()
    screen = Screen(None, None, err, {})

    async def watched() -> None:
        clock = LoopClock()
        async with live_view(
            LivePlan(plan=PLAN, stop=stop), clock, Output.TABLE, screen
        ) as watchers:
            for entry in entries:
                watchers(entry)
            await clock.sleep(until)

    virtually(watched())
    return err.getvalue().splitlines()


def test_a_terminal_shows_a_bar_what_is_under_way_and_what_it_waits_for() -> None:
    seen = OnTerminal()

    async def watched() -> list[str]:
        async with seen.watching() as (told, clock):
            told(ACCEPTED)
            told(entry(0, EntryType.STARTED, CREATE, attempt=1))
            told(entry(0, EntryType.HELD, OTHER, **HELD))
            told(entry(0, EntryType.STARTED, OTHER, attempt=2))
            await clock.sleep(30)
            told(entry(30, EntryType.FINISHED, CREATE))
            told(waits(30))
            await clock.sleep(15.1)
            return seen.terminal.lines

    assert virtually(watched()) == [
        "run      one, 3 steps on cluster toy",
        "done     make vms/create/cp-1 (30s)",
        "[=========>                    ] 1/3 steps, 45s, about 2m left",
        "    45s  make vms/create/cp-2",
        "         attempt 2",
        "    15s  make talos/configure/cp-1",
        "         waiting: etcd is there: 0 of 1",
        "  held: flag red is down",
    ]


def test_a_running_step_is_shown_with_its_node() -> None:
    seen = OnTerminal()
    step = replace(make("talos/configure/cp-1"), node="neo")

    async def watched() -> list[str]:
        async with seen.watching(plan_of(step)) as (told, clock):
            told(entry(0, EntryType.STARTED, step.id, attempt=1))
            await clock.sleep(1)
            return seen.terminal.lines

    assert "  neo: make talos/configure/cp-1" in virtually(watched())[1]


def test_stages_are_counted_where_there_are_several() -> None:
    seen = OnTerminal()

    async def watched() -> list[str]:
        async with seen.watching(SEVERAL_STAGES) as (told, clock):
            told(entry(0, EntryType.FINISHED, FETCH.id))
            await clock.sleep(1)
            return seen.terminal.lines

    assert virtually(watched())[2] == "  images 1/1  vms 0/2  talos 0/1"


def test_what_stays_is_left_when_the_view_ends() -> None:
    seen = OnTerminal()

    async def watched() -> None:
        async with seen.watching() as (told, clock):
            told(entry(0, EntryType.FINISHED, CREATE, already=True))
            await clock.sleep(1)
            told(entry(1, EntryType.FAILED, OTHER, problem=PROBLEM))

    virtually(watched())

    assert seen.terminal.lines == [
        "already  make vms/create/cp-1: already done",
        "failed   make vms/create/cp-2: VM 1030 is no longer cp-1 (vm.identity)",
    ]


def test_a_terminal_is_not_drawn_more_often_than_ten_times_a_second() -> None:
    seen = OnTerminal()

    async def watched() -> None:
        async with seen.watching() as (told, clock):
            for number in range(1000):
                told(entry(number / 500, EntryType.STARTED, CREATE, attempt=number))
                await clock.sleep(0.002)

    virtually(watched())

    assert 10 <= len(seen.terminal.writes) <= 21


def test_without_news_a_terminal_is_drawn_once_a_second() -> None:
    seen = OnTerminal()

    async def watched() -> None:
        async with seen.watching() as (told, clock):
            told(entry(0, EntryType.STARTED, CREATE, attempt=1))
            await clock.sleep(20)

    virtually(watched())

    assert 15 <= len(seen.terminal.writes) <= 22


@pytest.mark.parametrize("columns", [20, 33, 40, 79, 200])
def test_a_frame_is_never_wider_than_the_terminal(columns: int) -> None:
    seen = OnTerminal(columns)

    async def watched() -> list[str]:
        async with seen.watching() as (told, clock):
            told(waits(0, because="2 of 3 voters healthy, quorum is 2, and one more has to come"))
            told(entry(0, EntryType.HELD, OTHER, **HELD))
            await clock.sleep(5.1)
            return seen.terminal.lines

    lines = virtually(watched())

    assert len(lines) == 5
    assert all(len(line) < columns for line in lines)


def test_a_window_that_becomes_narrower_leaves_nothing_behind() -> None:
    seen = OnTerminal(100)

    async def watched() -> list[str]:
        async with seen.watching() as (told, clock):
            told(entry(0, EntryType.STARTED, CREATE, attempt=1))
            await clock.sleep(3)
            seen.resize(30)
            await clock.sleep(3.1)
            return seen.terminal.lines

    assert virtually(watched()) == ["0/3 steps, 6s, about 3m left", "     6s  make vms/create/cp-1"]


def test_a_low_terminal_shows_how_many_more_are_under_way() -> None:
    plan = plan_of(*(make(f"vms/{number}") for number in range(20)))
    seen = OnTerminal(rows=8)

    async def watched() -> list[str]:
        async with seen.watching(plan) as (told, clock):
            for number in range(20):
                told(entry(number / 100, EntryType.STARTED, f"vms/{number}", attempt=1))
            await clock.sleep(1)
            return seen.terminal.lines

    lines = virtually(watched())

    assert len(lines) <= 7
    assert lines[-1].strip() == "and 15 more running"


def test_a_terminal_without_colours_gets_none() -> None:
    seen = OnTerminal(NO_COLOR="1")

    async def watched() -> None:
        async with seen.watching() as (told, clock):
            told(entry(0, EntryType.FAILED, CREATE, problem=PROBLEM))
            await clock.sleep(1)

    virtually(watched())

    assert not any("m" in text[:6] for text in "".join(seen.terminal.writes).split("\x1b[")[1:])


def test_somebody_who_asked_to_stop_is_told_what_happens() -> None:
    seen, stop = OnTerminal(), StopRequest()

    async def watched() -> list[str]:
        async with seen.watching(stop=stop) as (told, clock):
            told(entry(0, EntryType.STARTED, CREATE, attempt=1))
            stop.request()
            await clock.sleep(2)
            return seen.terminal.lines

    assert virtually(watched())[-1] == (
        "  stopping after the running steps; press Ctrl-C again to stop immediately"
    )


def test_what_was_done_before_a_run_is_gone_on_with_counts() -> None:
    seen = OnTerminal()
    before = (ACCEPTED, entry(0, EntryType.FINISHED, CREATE), entry(0, EntryType.STARTED, OTHER))

    async def watched() -> list[str]:
        async with seen.watching(before=before) as (told, clock):
            told(entry(0, EntryType.NOTE, text="resumed by anna", resumed=True))
            await clock.sleep(1.1)
            return seen.terminal.lines

    assert virtually(watched()) == [
        "note     resumed by anna",
        "[=========>                    ] 1/3 steps, 1s, about 2m left",
    ]


def test_a_log_has_one_line_for_what_is_worth_one() -> None:
    assert logged(
        ACCEPTED,
        entry(1, EntryType.STARTED, CREATE, attempt=1),
        entry(2, EntryType.UNKNOWN, CREATE, problem=PROBLEM),
        entry(2, EntryType.RETRIED, CREATE, problem=PROBLEM, wait=1.0),
        entry(3, EntryType.STARTED, CREATE, attempt=2),
        entry(9, EntryType.FINISHED, CREATE),
        entry(10, EntryType.HELD, OTHER, **HELD),
        entry(11, EntryType.RELEASED, key="k"),
        entry(12, EntryType.FINISHED, OTHER, already=True),
        entry(13, EntryType.FAILED, "talos/configure/cp-1", problem=PROBLEM),
        entry(14, EntryType.ENDED, result="failed"),
    ) == [
        "06:00:00 run: accepted: one, 3 steps on cluster toy",
        "06:00:01 vms/create/cp-1: started: make vms/create/cp-1",
        "06:00:02 vms/create/cp-1: unknown: VM 1030 is no longer cp-1 (vm.identity)",
        "06:00:02 vms/create/cp-1: retrying in 1s: VM 1030 is no longer cp-1 (vm.identity)",
        "06:00:03 vms/create/cp-1: started, attempt 2: make vms/create/cp-1",
        "06:00:09 vms/create/cp-1: done in 8s (1 of 3)",
        "06:00:10 vms/create/cp-2: hold acquired: flag red is down",
        "06:00:11 run: hold released: flag red is down",
        "06:00:12 vms/create/cp-2: done: no change was needed (2 of 3)",
        "06:00:13 talos/configure/cp-1: failed: VM 1030 is no longer cp-1 (vm.identity)",
        "06:00:14 run: ended: failed",
    ]


def test_a_log_repeats_a_wait_seldom() -> None:
    entries = [*(waits(float(at)) for at in range(0, 300, 30)), waits(301, "1 of 1", "go")]

    assert logged(*entries) == [
        "06:00:00 talos/configure/cp-1: waits: etcd is there: 0 of 1",
        "06:02:00 talos/configure/cp-1: waits: etcd is there: 0 of 1",
        "06:04:00 talos/configure/cp-1: waits: etcd is there: 0 of 1",
        "06:05:01 talos/configure/cp-1: passed: etcd is there: 1 of 1",
    ]


def test_a_log_says_nothing_of_gates_that_were_open() -> None:
    assert logged(waits(0, "1 of 1", "go")) == []


def test_a_log_gives_a_sign_of_life_every_minute() -> None:
    started = entry(0, EntryType.STARTED, CREATE, attempt=1)

    assert logged(started, until=130)[1:] == [
        "06:01:00 run: 0 of 3 steps done, 1 running, about 2m left",
        "06:02:00 run: 0 of 3 steps done, 1 running, about 2m left",
    ]


def test_a_log_says_once_that_the_run_stops() -> None:
    stop = StopRequest()
    stop.request()

    assert logged(until=2, stop=stop) == ["06:00:00 run: stopping after the running steps"]


def test_a_terminal_that_cannot_move_its_cursor_gets_lines() -> None:
    seen = OnTerminal(TERM="dumb")

    async def watched() -> None:
        async with seen.watching() as (told, _):
            told(ACCEPTED)

    virtually(watched())

    assert seen.terminal.lines == ["06:00:00 run: accepted: one, 3 steps on cluster toy"]


def test_what_others_say_cannot_steer_the_terminal() -> None:
    seen = OnTerminal()

    async def watched() -> None:
        async with seen.watching() as (told, clock):
            told(waits(0, because="\x1b[2J\nowned"))
            told(entry(0, EntryType.FAILED, CREATE, problem={"what": "\x1b]0;owned\x07"}))
            await clock.sleep(1)

    virtually(watched())

    assert "\x1b[2J" not in "".join(seen.terminal.writes)
    assert "\x1b]" not in "".join(seen.terminal.writes)


def carried_out(screen: Screen, output: Output) -> RunResult:
    """Carry out toys while somebody watches."""
    plan = plan_of(make("a", holds=(Flag(name="red"),)), make("b", "a", gates=(Exists(key="a"),)))

    async def done() -> RunResult:
        home, ports = Scene().process()
        async with live_view(LivePlan(plan=plan), LoopClock(), output, screen) as watcher:
            return (await start_run(home, plan, ports, way(watchers=(watcher,)))).result

    return asyncio.run(done())


def test_programs_get_every_entry_as_a_line() -> None:
    out, err = io.StringIO(), io.StringIO()

    carried_out(Screen(None, out, err, {}), Output.JSON)

    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [event["event"] for event in events] == [
        *("accepted", "held", "started", "finished", "released"),
        *("gate", "started", "finished", "ended"),
    ]
    assert err.getvalue() == ""


def test_a_run_goes_on_when_nobody_reads_any_more() -> None:
    gone = BrokenStream(BrokenPipeError())
    full = BrokenStream(OSError(28, "No space left on device"))

    assert carried_out(Screen(None, gone, None, {}), Output.JSON) is RunResult.DONE
    assert carried_out(Screen(None, None, full, {}), Output.TABLE) is RunResult.DONE
