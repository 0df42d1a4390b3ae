"""OpenTofu with the provider of bpg makes, changes and removes everything it knows, in the lab."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from stockman_lab.core.saved import plain
from stockman_lab.images.system_archive import system_archive
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.schema.schema import PROFILES
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.testing.thread import ProxmoxLab

from lab.tests.machines import put_file
from lab.tests.populated import TEMPLATE, image
from tests.real.images_served import serve_files
from tests.real.served import served
from tests.real.tofu import Tofu
from tools.pytest_plugin import RealTool

MACHINE = "proxmox_virtual_environment_vm.alone"
BOX = "proxmox_virtual_environment_container.box"
EXISTING = {
    "proxmox_virtual_environment_pool.farm": "farm",
    "proxmox_virtual_environment_role.keeper": "Keeper",
    "proxmox_storage_directory.shelf": "shelf",
    "proxmox_network_linux_bridge.storage": "pve1:vmbr62",
    "proxmox_hardware_mapping_pci.gpu": "gpu",
    "proxmox_haresource.node": "vm:320",
}
"""What is taken over as if it had been there before: by address, how the provider calls it."""
GUESTS = {
    "proxmox_virtual_environment_vm.found": "pve2/350",
    "proxmox_virtual_environment_container.found": "pve3/450",
}
"""Guests that somebody else made, to be taken over."""
MACHINE_BY_HAND = {
    "name": "found",
    "description": "made by hand",
    "tags": "old",
    "scsihw": "virtio-scsi-single",
    "cores": 2,
    "cpu": "host",
    "memory": "1024",
    "ostype": "l26",
    "onboot": 1,
    "scsi0": "thin:4",
    "net0": "virtio=BC:24:11:00:03:50,bridge=vmbr0,tag=5",
}
BOX_BY_HAND = {
    "hostname": "found",
    "description": "made by hand",
    "tags": "old",
    "unprivileged": 1,
    "onboot": 1,
    "cores": 1,
    "memory": 256,
    "swap": 0,
    "ostype": "debian",
    "cmode": "tty",
    "console": 1,
    "tty": 2,
    "rootfs": "local-zfs:2",
    "net0": "name=eth0,hwaddr=BC:24:11:00:04:50,bridge=vmbr0,ip=10.66.5.91/24,gw=10.66.5.1",
}
SYSTEM = system_archive("debian", "12")
PASSING = frozenset(
    {"tasks", "cfs_version", "version", "storage_locks", "removed_storages", "next_pid"}
)
"""What may be another after everything was taken back."""
WRITTEN_ANEW = frozenset({"interfaces"})
"""Of which only names are compared: a file that is written again has its defaults spelled out."""


@dataclass(slots=True)
class Bench:
    """OpenTofu and the cluster that it works on."""

    tofu: Tofu
    cluster: ClusterState
    lab: ProxmoxLab


@pytest.fixture(params=PROFILES)
def bench(request: pytest.FixtureRequest, tmp_path: Path, real_tool: RealTool) -> Iterator[Bench]:
    profile = str(request.param)
    disk = image()
    files = {"linux.qcow2": disk, TEMPLATE: SYSTEM}
    scratch = tmp_path / "lab"
    scratch.mkdir()
    with serve_files(files) as images, served(scratch, profile) as lab:
        (cluster,) = lab.world.state.clusters.values()
        tofu = Tofu(
            program=real_tool("tofu"),
            provider=real_tool("terraform-provider-proxmox"),
            folder=tmp_path / "configuration",
            lab=lab,
            variables={
                "images": images,
                "checksum": hashlib.sha256(disk).hexdigest(),
                "template": TEMPLATE,
                "rules": "true" if profile.startswith("9") else "false",
            },
        )
        tofu.prepare()
        yield Bench(tofu, cluster, lab)


def test_what_is_made_is_what_was_asked_for_and_goes_without_a_trace(bench: Bench) -> None:
    world = bench.lab.world
    put_file(MemoryClient(world, bench.cluster.name), f"vztmpl/{TEMPLATE}", SYSTEM, host="pve3")
    before = _lasting(bench.cluster)

    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert {guest.node for guest in bench.cluster.guests.values()} == {"pve1", "pve2", "pve3"}

    changes = bench.tofu.plan(memory="768", note="changed")
    assert changes[MACHINE] == ["update"]
    assert {tuple(change) for change in changes.values()} == {("update",)}
    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert bench.cluster.guests[300].config.values["memory"] == "768"

    assert bench.tofu.plan(box_storage="thin")[BOX] == ["delete", "create"]
    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert bench.cluster.guests[400].config.values["rootfs"].startswith("thin:")

    for address, identity in EXISTING.items():
        bench.tofu.forget(address)
        bench.tofu.take_over(address, identity)
    assert bench.tofu.no_changes() == ""

    _made_by_hand(bench)
    values = _values(bench.cluster)
    bench.tofu.add("existing.tf")
    for address, identity in GUESTS.items():
        bench.tofu.take_over(address, identity)
    changes = bench.tofu.plan()
    assert changes.keys() <= GUESTS.keys()
    assert all(actions == ["update"] for actions in changes.values())
    bench.tofu.apply()
    assert bench.tofu.no_changes() == ""
    assert sorted(values ^ _values(bench.cluster)) == []

    bench.tofu.destroy()
    assert _differences(before, _lasting(bench.cluster)) == []


def _made_by_hand(bench: Bench) -> None:
    """A machine and a container that somebody makes without OpenTofu, and starts."""
    lab = bench.lab
    door = MemoryClient(lab.world, bench.cluster.name)

    def done(path: str, **values: object) -> None:
        upid = lab.run(lambda: door.post(path, **values))
        assert lab.run(lambda: door.done(upid)) == "OK"

    done("/nodes/pve2/qemu", vmid=350, **MACHINE_BY_HAND)
    done("/nodes/pve3/lxc", vmid=450, ostemplate=f"local:vztmpl/{TEMPLATE}", **BOX_BY_HAND)
    done("/nodes/pve2/qemu/350/status/start")
    done("/nodes/pve3/lxc/450/status/start")


def _values(cluster: ClusterState) -> set[tuple[int, str, str]]:
    """The configurations of guests that were made by hand."""
    return {
        (vmid, name, text)
        for vmid in (350, 450)
        for name, text in cluster.guests[vmid].config.values.items()
    }


def _lasting(cluster: ClusterState) -> object:
    """What of a cluster somebody would notice."""
    return _without(plain(cluster))


def _without(value: object) -> object:
    """A state without what passes, and without folders that hold nothing."""
    if not isinstance(value, dict):
        return value
    kept = {
        name: sorted(item or ()) if name in WRITTEN_ANEW else _without(item)
        for name, item in value.items()
        if name not in PASSING
    }
    return {name: item for name, item in kept.items() if item not in ({}, [])}


def _differences(before: object, after: object, where: str = "") -> list[str]:
    """Where two states differ."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return [] if before == after else [f"{where}: {before!r} became {after!r}"]
    return [
        difference
        for name in sorted(before.keys() | after.keys())
        for difference in _differences(before.get(name), after.get(name), f"{where}/{name}")
    ]
