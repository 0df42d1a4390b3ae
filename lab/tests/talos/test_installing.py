"""Talos from a medium: maintenance, installation, and the first boot from the disk."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.factory import assets, names
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.machines import put_file
from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, stage_of, staged

EMPTY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


def from_medium(version: str, platform: str = "metal", order: str = "scsi0;ide2") -> World:
    """A machine of a preset with an empty disk and a medium in its drive."""
    world = staged("single", version, bootstrap=False)
    (cluster,) = world.clusters
    client = MemoryClient(world, cluster)
    vmid, guest = next(iter(client.cluster.state.guests.items()))
    asset = names.asset(f"{platform}-amd64.iso")
    wanted = assets.order(world.factory, EMPTY, f"v{version}", asset)
    content = assets.content_of(world.factory, wanted)
    storage = next(one.id for one in client.cluster.state.storages.values() if "iso" in one.content)
    put_file(client, "iso/talos.iso", content, host=guest.node, storage=storage)
    path = f"/nodes/{guest.node}/qemu/{vmid}"
    client.put(f"{path}/config", ide2=f"{storage}:iso/talos.iso,media=cdrom", boot=f"order={order}")
    client.put(f"{path}/config", delete="scsi0")
    upid = client.post(f"{path}/config", scsi0=f"{storage_of_disks(client, guest.node)}:20")
    assert client.done(upid) == "OK"
    client.post(f"{path}/status/start")
    world.settle()
    return world


def storage_of_disks(client: MemoryClient, node: str) -> str:
    return next(
        storage.id
        for storage in client.cluster.state.storages.values()
        if "images" in storage.content and storage.is_on(node)
    )


def configuration(version: str) -> bytes:
    """A configuration that says where to install."""
    config = machine(staged("single", version)).state.config
    if b"    install:\n" in config or b"UnattendedInstallConfig" in config:
        return config
    install = (
        b"    install:\n        disk: /dev/sda\n        image: factory.talos.dev/metal-installer/"
    )
    return config.replace(
        b"machine:\n", b"machine:\n" + install + f"{EMPTY}:v{version}\n".encode(), 1
    )


@pytest.mark.parametrize("version", ["1.11.5", "1.12.1", "1.13.9", "1.14.1"])
def test_a_medium_waits_and_installs_what_it_is_told(version: str) -> None:
    world = from_medium(version)
    result = machine(world)
    assert stage_of(result) is Stage.MAINTENANCE
    assert result.state.slot == ""
    Asking(world, result, "os:reader").call(
        "ApplyConfiguration", data=configuration(version), mode="AUTO"
    )
    assert stage_of(result) is Stage.INSTALLING
    world.settle()
    assert result.state.slot == "A"
    assert result.version == f"v{version}"
    assert result.state.config
    assert stage_of(result) is Stage.BOOTING  # nobody bootstrapped it
    assert result.state.services["etcd"].state == "Preparing"


def test_a_medium_in_front_of_an_installed_disk_halts() -> None:
    world = from_medium("1.13.9", order="ide2;scsi0")
    result = machine(world)
    Asking(world, result, "os:reader").call(
        "ApplyConfiguration", data=configuration("1.13.9"), mode="AUTO"
    )
    world.settle()
    guest = world.talos.guest(result)
    assert guest is not None
    client = MemoryClient(world, result.state.cluster)
    for action in ("stop", "start"):
        client.post(f"/nodes/{guest.node}/qemu/{guest.vmid}/status/{action}")
        world.settle()
    assert "already installed to disk" in result.state.halted
    assert result.api is None


def test_an_installation_without_its_image_fails_and_starts_over() -> None:
    world = from_medium("1.13.9")
    result = machine(world)
    world.faults.add(Fault(Point.REGISTRY, Effect.KILL, times=None))
    Asking(world, result, "os:reader").call(
        "ApplyConfiguration", data=configuration("1.13.9"), mode="AUTO"
    )
    while not _failures(result):
        assert world.timeline.next_at is not None
        world.timeline.run_until(world.timeline.next_at)
    world.settle()
    assert stage_of(result) is Stage.MAINTENANCE


def _failures(machine: Machine) -> int:
    return sum("error" in event.content for event in machine.state.events)
