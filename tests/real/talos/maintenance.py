"""Machines that wait for a configuration, booted from a medium or from an installed disk."""

from __future__ import annotations

from stockman_lab.factory import assets, names
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.world import World

from lab.tests.machines import put_file
from tests.real.talos.served import EMPTY, staged

_INSTALL = f"""\
machine:
    install:
        disk: /dev/sda
        image: factory.talos.dev/metal-installer/{EMPTY}:v"""


def from_medium(version: str) -> World:
    """A machine with an empty disk, and a medium in its drive."""
    world = staged("single", version, bootstrap=False)
    door, path = _only_machine(world)
    node = next(iter(door.cluster.state.guests.values())).node
    asset = assets.order(world.factory, EMPTY, f"v{version}", names.asset("metal-amd64.iso"))
    storages = door.cluster.state.storages.values()
    media = next(storage.id for storage in storages if "iso" in storage.content)
    disks = next(
        storage.id for storage in storages if "images" in storage.content and storage.is_on(node)
    )
    content = assets.content_of(world.factory, asset)
    put_file(door, "iso/talos.iso", content, host=node, storage=media)
    drive = f"{media}:iso/talos.iso,media=cdrom"
    door.put(f"{path}/config", ide2=drive, boot="order=scsi0;ide2")
    door.put(f"{path}/config", delete="scsi0")
    door.done(door.post(f"{path}/config", scsi0=f"{disks}:20"))
    return _switched_on(world, door, path)


def from_image(version: str) -> World:
    """A machine whose disk is an image of Talos, and that nobody brought a configuration to."""
    world = staged("single", version, bootstrap=False)
    door, path = _only_machine(world)
    door.put(f"{path}/config", delete="ide2")
    return _switched_on(world, door, path)


def configuration(version: str, *, installs: bool) -> bytes:
    """The configuration of the machine; one for a medium says where to install to."""
    config = staged("single", version).talos.machines[0].state.config
    if not installs or b"    install:\n" in config or b"UnattendedInstallConfig" in config:
        return config
    return config.replace(b"machine:\n", f"{_INSTALL}{version}\n".encode(), 1)


def _only_machine(world: World) -> tuple[MemoryClient, str]:
    door = MemoryClient(world, next(iter(world.clusters)))
    vmid, guest = next(iter(door.cluster.state.guests.items()))
    return door, f"/nodes/{guest.node}/qemu/{vmid}"


def _switched_on(world: World, door: MemoryClient, path: str) -> World:
    door.post(f"{path}/status/start")
    world.settle()
    return world


def without_etcd(version: str) -> World:
    """A machine with its configuration that nobody bootstrapped."""
    world = staged("single", version, bootstrap=False)
    return _switched_on(world, *_only_machine(world))
