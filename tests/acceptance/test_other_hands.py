"""Others who work on the same cluster, clocks that are wrong, and work that is done by halves."""

from __future__ import annotations

from pathlib import Path

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.memory import MemoryClient

from stockman.app.runs.apply import ApplyOptions, execute_plan
from stockman.engine.context import StopRequest
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import RunResult, StepProgress
from tests.acceptance.fault_scenes import VMS, one_more
from tests.acceptance.files import git
from tests.acceptance.invariants import Watch
from tests.acceptance.kills import kill_points
from tests.acceptance.loop import in_world
from tests.acceptance.process import Process
from tests.acceptance.reference import reference
from tests.acceptance.scene import Scene
from tests.acceptance.troubles import Meddling, root_does, taken_back


def test_f61_the_lease_of_a_dead_run_is_taken_over_with_a_larger_token(tmp_path: Path) -> None:
    scene = one_more(tmp_path)
    first = scene.apply(Process(dies_when="after POST /nodes/neo/qemu/1033/status/start"))
    before = scene.kept.token

    second = scene.resume()

    assert first.was_killed
    assert second.is_done, second.why
    assert scene.kept.token > before


def test_f62_a_holder_that_lost_the_lock_writes_nothing_any_more(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path)
    process = Process()
    writes: list[int] = []

    def rob(entry: JournalEntry) -> None:
        if entry.event is EntryType.STARTED and entry.step.startswith("vms/create/") and not writes:
            scene.kept.token += 1
            writes.append(len(process.writes))

    life = scene.apply(process, VMS, watchers=(rob,))

    assert life.outcome is not None
    assert life.outcome.result is RunResult.FAILED
    assert "lock.lost" in life.why
    late = [
        str(write) for write in process.writes[writes[0] :] if write.system.startswith("proxmox")
    ]
    assert len([one for one in late if "POST" in one]) <= 3, late  # those that had begun
    assert not any("/config" in one for one in late), late
    assert not any("start" in one for one in late)


def test_f63_of_two_who_begin_at_once_one_is_told_who_the_other_is(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path)
    told: list[str] = []

    async def both() -> RunResult:
        one, other = scene.session(Process()), scene.session(Process())
        plan = (await one.plan(VMS)).plan
        manner = ApplyOptions(by="anna", stop=StopRequest(), watchers=(told_once,))
        rivals.append((other, plan))
        return (await execute_plan(one, plan, manner)).result

    rivals: list[tuple[object, object]] = []

    def told_once(entry: JournalEntry) -> None:
        if entry.event is EntryType.ACCEPTED:
            told.append("begun")

    assert in_world(scene.world, both()) is RunResult.DONE
    assert told == ["begun"]
    scene.kept.holder = Process()
    life = scene.apply(None, VMS)
    assert life.why == ["lock.held"]


def test_f64_a_plan_is_refused_after_somebody_changed_what_it_touches(tmp_path: Path) -> None:
    scene = reference().scene(tmp_path)
    scene.files.edit("nodes.yaml", "cores: 8", "cores: 6")

    async def meddle() -> list[str]:
        session = scene.session(Process())
        plan = (await session.plan()).plan
        MemoryClient(scene.world, "k8s").put("/nodes/neo/qemu/1031/config", memory=12288)
        try:
            await execute_plan(session, plan, ApplyOptions(by="anna", stop=StopRequest()))
        except Exception as error:  # noqa: BLE001  # whatever it says
            return [str(error)]
        return []

    told = in_world(scene.world, meddle())

    assert told
    assert told[0].startswith("plan.moved")


def test_f64_a_plan_that_is_moved_before_it_begins_is_made_anew(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path)
    meddled: list[str] = []
    taken = root_does("POST", "/nodes/neo/qemu", vmid=1031, name="billing-db", memory=512)
    process = Process()
    process.watchers.append(Meddling("before lock acquire", taken).watcher(scene, meddled))

    life = scene.apply(process, VMS)

    assert len(meddled) == 1
    assert life.why == ["vm.taken"]
    assert {write.system for write in process.writes} == {"lock"}


def test_f66_a_branch_that_moved_stops_the_run_before_kubernetes(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path / "killed")
    whole = reference().life.process.points
    number = next(
        count
        for count, (side, call) in enumerate(whole, 1)
        if side == "before" and call.what.endswith("gate kubernetes/pushed")
    )
    points, _ = kill_points(
        scene,
        lambda count, side, call: count == number,
        lambda process: scene.apply(_dying(process, number + 1)),
    )
    later = points[0].snapshot.scene(tmp_path / "later")
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(later.files.bare), str(other))
    (other / "README.md").write_text("moved\n")
    git(other, "add", "--all")
    git(other, "commit", "--quiet", "--message", "Somebody else")
    git(other, "push", "--quiet")

    life = later.resume()

    assert life.outcome is not None
    assert life.outcome.result is not RunResult.DONE
    assert not any("jobs" in write.what for write in life.process.writes)


def test_f67_etcd_does_not_begin_on_a_machine_whose_clock_is_wrong(tmp_path: Path) -> None:
    scene = Scene.made(tmp_path / "killed")
    points, _ = kill_points(
        scene,
        lambda count, side, call: side == "before" and "started talos/bootstrap" in call.what,
        lambda process: scene.apply(_dying_when(process, "after started talos/bootstrap")),
    )
    later = points[0].snapshot.scene(tmp_path / "later")
    skewed = Fault(point=Point.CLOCK, effect=Effect.LIE, seconds=900.0, times=None)
    later.world.faults.add(skewed)
    later.world.strike()

    life = later.apply()

    assert not life.is_done
    assert not later.world.state.talos.etcd


def test_f71_of_a_change_by_halves_only_the_rest_is_done(tmp_path: Path) -> None:
    scene = reference().scene(tmp_path)
    folder = scene.files.directory / "templates" / "config" / "talos" / "patches" / "global"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "more.yaml").write_text('machine:\n  sysctls:\n    vm.max_map_count: "262144"\n')
    watch = Watch(scene)
    broken = Fault(
        point=Point.TALOS_CALL,
        effect=Effect.FAIL,
        match={"machine": "talos-niobe", "method": "ApplyConfiguration"},
        status=3,
        times=None,
    )
    scene.world.faults.add(broken)
    first = scene.apply(watchers=(watch,))
    assert first.outcome is not None
    changed = {
        name
        for name, one in first.outcome.state.steps.items()
        if name.startswith("talos/change/") and one.progress is StepProgress.DONE
    }
    taken_back(scene)

    second = scene.resume(watchers=(watch,))

    assert first.outcome.result is RunResult.FAILED, first.why
    assert second.is_done, second.why
    configured = [
        write.what for write in second.process.writes if "ApplyConfiguration" in write.what
    ]
    assert len(configured) == 3 - len(changed)
    assert watch.over(second) == []


def _dying(process: Process, number: int) -> Process:
    process.dies_at = number
    return process


def _dying_when(process: Process, when: str) -> Process:
    process.dies_when = when
    return process
