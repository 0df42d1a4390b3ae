"""Machines whose making a host or a process did not live to finish."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.host_power import give_power

from stockman.model.errors import Refused, StockmanError
from stockman.model.names import Datastore, HostName, Vmid
from stockman.planning.change import ChangeKind
from stockman.proxmox.storages import NewVolume
from stockman.proxmox.vms import VmConfig
from stockman.steps.access.admin import admin_client_name
from stockman.steps.base import GateAnswer, Verdict
from stockman.steps.vm.system_disk import ImportedDisk, has_no_disk
from tests.planning.estate import NO_HA, Estate, Killed, perform

_CREATE = "vms/create/talos-niobe"
_VMID = 1032


async def ready(estate: Estate) -> None:
    """Let the token of stockman have its rights."""
    for step in (await estate.plan()).plan.until("access").steps:
        await perform(step.action, estate.ports())


def pve(estate: Estate) -> Cluster:
    return next(iter(estate.world.clusters.values()))


async def struck(estate: Estate, kind: str) -> None:
    """The host of a machine dies in a task about it, and gets its power back."""
    fault = Fault(Point.TASK, Effect.KILL, {"type": kind, "vmid": str(_VMID)})
    estate.world.faults.add(fault)
    for step in (await estate.plan()).plan.steps:
        if step.node not in ("", "talos-niobe"):
            continue
        if step.id == _CREATE:
            with pytest.raises(StockmanError):
                await perform(step.action, estate.ports())
            break
        await perform(step.action, estate.ports())
    cluster = pve(estate)
    give_power(cluster, cluster.state.hosts["niobe"])
    await estate.clock.sleep(600)


def written_down(estate: Estate) -> GuestConfig:
    """The disk of the machine is written down, and not yet its own."""
    guest = pve(estate).state.guests[_VMID]
    estate.pve.done(estate.pve.post(f"/nodes/niobe/qemu/{_VMID}/status/stop"))
    guest.config.pending["scsi0"] = guest.config.values.pop("scsi0")
    return guest.config


def volumes(estate: Estate) -> list[str]:
    values = pve(estate).state.volumes.values()
    return sorted(volume.name for volume in values if volume.vmid == _VMID)


async def test_a_machine_whose_disk_was_being_copied_is_made_to_the_end(estate: Estate) -> None:
    await struck(estate, "qmconfig")
    began = volumes(estate)
    outcome = await estate.apply()

    assert len(began) == 2
    assert _CREATE in {step.id for step in outcome.plan.steps}
    assert volumes(estate) == [
        "vm-1032-disk-0",
        "vm-1032-disk-2",
    ]
    assert estate.config(_VMID)["scsi0"].startswith("ceph-vm-disks:vm-1032-disk-2")
    assert (await estate.plan()).changes == ()


async def test_a_host_that_comes_back_does_not_start_a_machine_without_a_disk(
    estate: Estate,
) -> None:
    await struck(estate, "qmconfig")

    assert not pve(estate).state.guests[_VMID].is_running
    assert "onboot" not in estate.config(_VMID)


async def test_a_machine_without_a_disk_that_somebody_started_is_switched_off_first(
    estate: Estate,
) -> None:
    create = (await estate.plan()).plan.step(_CREATE)
    await struck(estate, "qmconfig")
    estate.pve.done(estate.pve.post(f"/nodes/niobe/qemu/{_VMID}/status/start"))

    await perform(create.action, estate.ports())
    await estate.apply()

    assert estate.config(_VMID)["onboot"] == "1"
    assert (await estate.plan()).changes == ()


async def test_a_plan_says_that_making_a_machine_was_interrupted(estate: Estate) -> None:
    await struck(estate, "qmconfig")

    outcome = await estate.plan()

    (change,) = (change for change in outcome.changes if "1032" in change.what)
    assert change.mark is ChangeKind.ADD
    assert "has no disk yet: its creation was interrupted" in change.why


async def test_a_machine_whose_disk_was_being_grown_is_made_to_the_end(estate: Estate) -> None:
    await struck(estate, "resize")

    await estate.apply()

    assert (await estate.plan()).changes == ()


async def test_what_nobody_wrote_down_before_a_machine_was_made_is_not_touched(
    estate: Estate,
) -> None:
    await ready(estate)
    create = (await estate.plan()).plan.step(_CREATE)
    gate = next(gate for gate in create.gates if gate.kind == "proxmox.vmid")
    door = estate.ports().proxmox[admin_client_name(estate.region)]
    free = await gate.check(estate.ports())
    new = NewVolume(vmid=Vmid(_VMID), name="vm-1032-disk-7", size=1 << 30)
    await door.allocate_volume(HostName("niobe"), Datastore("ceph-vm-disks"), new)

    taken = await gate.check(estate.ports())

    assert (free.answer.value, taken.answer.value) == ("go", "stop")
    assert "vm-1032-disk-7" in taken.because
    assert volumes(estate) == ["vm-1032-disk-7"]


async def test_a_disk_that_was_written_down_and_not_taken_over_is_taken_over(
    estate: Estate,
) -> None:
    create = (await estate.plan()).plan.step(_CREATE)
    await struck(estate, "resize")
    config = written_down(estate)

    await perform(create.action, estate.ports())

    assert not config.pending
    assert "size=100G" in config.values["scsi0"]


async def test_a_later_plan_takes_over_such_a_disk_too(estate: Estate) -> None:
    await struck(estate, "resize")
    written_down(estate)

    await estate.apply()

    assert (await estate.plan()).changes == ()


@pytest.mark.parametrize(
    ("values", "is_half"),
    [
        ({"ide2": "ceph:vm-1-cloudinit,media=cdrom", "efidisk0": "ceph:vm-1-disk-0"}, True),
        ({"scsi0": "ceph:vm-1-disk-1,size=2G"}, False),
        ({"virtio3": "ceph:vm-1-disk-1,size=2G"}, False),
        ({"unused0": "ceph:vm-1-disk-1"}, False),
        ({"parent": "before-the-upgrade"}, False),
        ({"template": "1"}, False),
    ],
)
def test_only_a_machine_without_any_disk_that_never_ran_is_half_made(
    values: dict[str, str], *, is_half: bool
) -> None:
    assert has_no_disk(VmConfig(values=values, digest="")) is is_half


def test_a_disk_is_asked_for_in_the_words_of_proxmox() -> None:
    disk = ImportedDisk(
        slot="scsi0", storage=Datastore("ceph"), source="local:import/a.qcow2", options="ssd=1"
    )

    assert disk.value == "ceph:0,import-from=local:import/a.qcow2,ssd=1"


async def gate_of(estate: Estate) -> Verdict:
    """What the number of the machine says to a plan of now."""
    step = (await estate.plan()).plan.step(_CREATE)
    gate = next(gate for gate in step.gates if gate.kind == "proxmox.vmid")
    return await gate.check(estate.ports())


def unlock(estate: Estate) -> None:
    """As root does with `qm unlock`."""
    del pve(estate).state.guests[_VMID].config.values["lock"]


async def test_what_a_host_left_locked_only_root_can_unlock(estate: Estate) -> None:
    await struck(estate, "qmcreate")

    outcome, verdict = await estate.plan(), await gate_of(estate)
    unlock(estate)
    after = await gate_of(estate)

    (told,) = (problem for problem in outcome.problems if problem.code == "vm.unfinished")
    assert not told.is_error
    assert "`qm unlock 1032` as root on niobe" in told.fix
    assert verdict.answer is GateAnswer.STOP
    assert verdict.fix == "run `qm unlock 1032` as root on niobe"
    assert after.answer is GateAnswer.GO


async def test_what_root_unlocked_is_made_anew_and_nothing_is_left_of_the_first_attempt(
    estate: Estate,
) -> None:
    whole = Estate("three-node")
    whole.edit("nodes.yaml", NO_HA, "")
    await whole.apply()
    await struck(estate, "qmcreate")
    began = volumes(estate)
    unlock(estate)

    await estate.apply()

    assert began == ["vm-1032-disk-0"]
    assert volumes(estate) == volumes(whole)
    assert estate.config(_VMID).keys() == whole.config(_VMID).keys()
    assert (await estate.plan()).changes == ()


async def test_a_machine_that_root_unlocked_keeps_volumes_that_somebody_may_need(
    estate: Estate,
) -> None:
    await struck(estate, "qmcreate")
    unlock(estate)
    door = estate.ports().proxmox[admin_client_name(estate.region)]
    new = NewVolume(vmid=Vmid(_VMID), name="vm-1032-disk-7", size=1 << 30)
    await door.allocate_volume(HostName("niobe"), Datastore("ceph-vm-disks"), new)
    step = (await estate.plan()).plan.step(_CREATE)

    verdict = await gate_of(estate)
    with pytest.raises(Refused, match=r"vm\.leftovers"):
        await perform(step.action, estate.ports())

    assert verdict.answer is GateAnswer.STOP
    assert "pvesm free" in verdict.fix
    assert volumes(estate) == ["vm-1032-disk-0", "vm-1032-disk-7"]
    assert _VMID in pve(estate).state.guests


async def left_unlocked() -> Estate:
    """An estate whose root unlocked what a host left of a machine."""
    estate = Estate("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    await struck(estate, "qmcreate")
    unlock(estate)
    estate.trigger.log.clear()
    return estate


@pytest.mark.parametrize("nth", [0, 1], ids=["a volume", "the machine"])
async def test_who_is_killed_while_the_first_attempt_is_removed_goes_on(nth: int) -> None:
    twin, estate = await left_unlocked(), await left_unlocked()
    step = (await twin.plan()).plan.step(_CREATE)
    before = len(twin.trigger.log)
    await perform(step.action, twin.ports())
    deletions = [i for i, call in enumerate(twin.trigger.log[before:], 1) if " DELETE " in call]
    estate.trigger.left, estate.trigger.after = deletions[nth], True
    with pytest.raises(Killed):
        await perform(step.action, estate.ports())

    await estate.apply()

    assert len(deletions) == 2
    assert volumes(estate) == volumes(twin)
    assert (await estate.plan()).changes == ()
