"""What others do to machines of a cluster, by right: nobody may call it drift, or plan it away."""

from __future__ import annotations

from typing import Any

from tests.real.apply.proxmox import asked
from tests.real.apply.scene import Scene
from tests.real.waiting import wait_until


def karpenter_makes_a_machine(scene: Scene) -> None:
    """A machine of its own beside ours, with the marks that Karpenter gives."""
    wish = {"vmid": "9001", "name": "karpenter-default-x7k2p", "tags": "karpenter", "memory": "512"}
    asked(scene, "POST", f"/nodes/{_guests(scene)[0]['node']}/qemu", **wish)
    wait_until(lambda: any(guest.get("name") == wish["name"] for guest in _guests(scene)))


def csi_attaches_a_volume(scene: Scene) -> None:
    """A disk at one of our machines, as the storage driver plugs it in."""
    where = _config(_guests(scene)[0])
    storage = asked(scene, "GET", where)["scsi0"].partition(":")[0]
    asked(scene, "POST", where, scsi7=f"{storage}:1,serial=pvc-0a1b,backup=0")
    wait_until(lambda: "scsi7" in asked(scene, "GET", where))


def high_availability_moves_a_machine(scene: Scene) -> None:
    """A machine that is looked after goes to another host, as after a host that failed."""
    guest = next(one for one in _guests(scene) if one.get("hastate"))
    hosts = {one["node"] for one in asked(scene, "GET", "/nodes")}
    target = min(hosts - {guest["node"]})
    asked(scene, "POST", f"/cluster/ha/resources/vm:{guest['vmid']}/migrate", node=target)
    wait_until(lambda: _place(scene, guest["vmid"]) == (target, "running"))


def _place(scene: Scene, vmid: int) -> tuple[str, str]:
    guest = next(one for one in _guests(scene) if one["vmid"] == vmid)
    return str(guest["node"]), str(guest["status"])


def _guests(scene: Scene) -> list[dict[str, Any]]:
    guests = asked(scene, "GET", "/cluster/resources?type=vm")
    return sorted(guests, key=lambda one: int(one["vmid"]))


def _config(guest: dict[str, Any]) -> str:
    return f"/nodes/{guest['node']}/qemu/{guest['vmid']}/config"
