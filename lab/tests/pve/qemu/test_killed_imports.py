"""Hosts that die while they copy a disk: what is left, and who can go on."""

from __future__ import annotations

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.host import GIB
from stockman_lab.pve.host_power import give_power
from stockman_lab.servers.memory import MemoryClient

from lab.tests.machines import IMAGE, QEMU, create, create_linux, ended, put_image
from lab.tests.worlds import door

_DISK = f"local-zfs:0,import-from={IMAGE}"


def _killed(api: MemoryClient, kind: str) -> None:
    api.world.faults.add(Fault(Point.TASK, Effect.KILL, {"type": kind}))


def _back(api: MemoryClient) -> None:
    api.world.advance(1)
    give_power(api.cluster, api.cluster.state.hosts["pve1"])
    api.world.advance(60)


def _volumes(api: MemoryClient) -> list[str]:
    return [volume.name for volume in api.cluster.state.volumes.values() if volume.vmid == 100]


def test_an_import_into_a_machine_takes_as_long_as_one_at_its_creation() -> None:
    api = door()
    api.cluster.state.volumes[f"pve1/{put_image(api)}"].size = 2 * GIB
    create(api)
    before = api.world.now

    assert ended(api, "POST", f"{QEMU}/100/config", scsi0=_DISK) == "OK"

    assert api.world.now - before > 1.0
    assert "scsi0" in api.cluster.state.guests[100].config.values


def test_a_host_that_dies_in_an_import_leaves_a_volume_and_no_lock() -> None:
    api = door()
    put_image(api)
    guest = create(api)
    _killed(api, "qmconfig")

    api.post(f"{QEMU}/100/config", scsi0=_DISK)
    _back(api)

    assert "scsi0" not in guest.config.values
    assert not guest.lock
    assert _volumes(api) == ["vm-100-disk-0"]
    assert not api.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"].blob


def test_an_import_goes_beside_what_an_earlier_one_left() -> None:
    api = door()
    put_image(api)
    guest = create(api)
    _killed(api, "qmconfig")
    api.post(f"{QEMU}/100/config", scsi0=_DISK)
    _back(api)

    assert ended(api, "POST", f"{QEMU}/100/config", scsi0=_DISK) == "OK"

    assert guest.config.values["scsi0"].startswith("local-zfs:vm-100-disk-1")
    assert len(_volumes(api)) == 2


def test_a_host_that_dies_while_it_makes_a_machine_leaves_volumes_and_a_lock() -> None:
    api = door()
    put_image(api)
    _killed(api, "qmcreate")

    api.post(QEMU, vmid=100, name="vm100", scsi0=_DISK, ide2="local-zfs:cloudinit")
    _back(api)

    assert api.cluster.state.guests[100].lock == "create"
    assert sorted(_volumes(api)) == ["vm-100-cloudinit", "vm-100-disk-0"]


def test_a_machine_that_is_destroyed_takes_unreferenced_volumes_with_it_if_asked() -> None:
    api = door()
    put_image(api)
    create_linux(api)
    _killed(api, "qmconfig")
    api.post(f"{QEMU}/100/config", scsi1=_DISK)
    _back(api)

    api.done(api.delete(f"{QEMU}/100", **{"destroy-unreferenced-disks": 1}))

    assert _volumes(api) == []
