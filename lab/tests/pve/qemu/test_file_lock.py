"""The lock of a guest's file: who waits for it, and what becomes of it."""

from __future__ import annotations

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve import workers
from stockman_lab.pve.qemu.file_lock import seconds_locked

from lab.tests.machines import QEMU, create, ended
from lab.tests.worlds import door


def test_a_worker_that_hangs_keeps_the_lock_for_good() -> None:
    api = door()
    guest = create(api)
    api.world.faults.add(Fault(Point.TASK, Effect.HANG, {"type": "qmstart"}))
    api.post(f"{QEMU}/100/status/start")
    api.world.advance(3600)

    assert ended(api, "POST", f"{QEMU}/100/status/stop") == (
        "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"
    )
    assert seconds_locked(guest, api.world.now) > 3600


def test_a_killed_worker_gives_the_lock_back() -> None:
    api = door()
    guest = create(api)
    api.world.faults.add(Fault(Point.TASK, Effect.HANG, {"type": "qmstart"}))
    upid = api.post(f"{QEMU}/100/status/start")

    api.delete(f"/nodes/pve1/tasks/{upid}")

    assert seconds_locked(guest, api.world.now) == 0


def test_a_host_without_power_holds_no_locks() -> None:
    api = door()
    guest = create(api)
    api.post(f"{QEMU}/100/status/start")

    workers.power_lost(api.cluster, api.cluster.state.hosts["pve1"])

    assert seconds_locked(guest, api.world.now) == 0


def test_a_late_worker_holds_the_lock_as_long_as_it_takes() -> None:
    api = door()
    create(api)
    api.world.faults.add(Fault(Point.TASK, Effect.DELAY, {"type": "qmstart"}, seconds=5))
    api.post(f"{QEMU}/100/status/start")
    before = api.world.now

    api.put(f"{QEMU}/100/config", name="late")

    assert api.world.now - before > 5


def test_readers_do_not_disturb_each_other_but_keep_writers_away() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:100")
    api.post(f"{QEMU}/100/clone", newid=101)

    assert seconds_locked(guest, api.world.now, shared=True) == 0
    assert seconds_locked(guest, api.world.now) > 10
