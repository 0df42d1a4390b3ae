"""Guests for tests of what is not about making them."""

from __future__ import annotations

from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.servers.memory import MemoryClient


def machine(
    api: MemoryClient, vmid: int = 100, storage: str = "local-zfs", node: str = "pve1"
) -> Guest:
    """A machine with one disk of 1 GiB."""
    name = f"vm-{vmid}-disk-0"
    volid = api.post(
        f"/nodes/{node}/storage/{storage}/content", vmid=vmid, filename=name, size="1G"
    )
    values = {"name": f"vm{vmid}", "memory": "2048", "scsi0": f"{volid},size=1G"}
    guest = api.cluster.state.guests[vmid] = Guest(vmid, "qemu", node, GuestConfig(values))
    return guest


def container(api: MemoryClient, vmid: int = 200, node: str = "pve1") -> Guest:
    """A container with a root file system of 1 GiB."""
    name = f"subvol-{vmid}-disk-0"
    path = f"/nodes/{node}/storage/local-zfs/content"
    volid = api.post(path, vmid=vmid, filename=name, size="1G", format="subvol")
    values = {"hostname": f"ct{vmid}", "rootfs": f"{volid},size=1G"}
    guest = api.cluster.state.guests[vmid] = Guest(vmid, "lxc", node, GuestConfig(values))
    return guest
