"""What a drive of Proxmox VE tells a machine of its network, below its own configuration."""

from __future__ import annotations

from stockman.app.adopting.sight import Matched
from stockman.model.proxmox_strings import properties
from stockman.model.record import record
from stockman.steps.vm_disks import drives
from stockman.steps.vm_values import family


@record
class Told:
    """What a machine is told; nothing where it has no such drive."""

    is_static: bool = False
    """Whether it is told the address that it has."""
    gateway: str = ""
    """Empty: none."""
    name_servers: tuple[str, ...] = ()


def is_told(one: Matched) -> bool:
    """Whether there is a drive at all."""
    return any(drive.is_cloud_init for drive in drives(one.config).values())


def told_by(one: Matched) -> Told:
    """What the VM tells its machine."""
    if not is_told(one):
        return Told()
    own = str(one.machine.address)
    servers = tuple(one.config.get("nameserver").split())
    for key, value in one.config.values.items():
        if family(key) == "ipconfig":
            known = properties(value)
            if known.get("ip", "").partition("/")[0] == own:
                return Told(is_static=True, gateway=known.get("gw", ""), name_servers=servers)
    return Told(name_servers=servers)
