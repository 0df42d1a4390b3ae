"""Guests that go to another host: while they run, or switched off where devices hold them."""

from __future__ import annotations

import re

from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm_configure import MoveVm
from stockman.steps.vm_gates import HostOnline, ProxmoxQuorum
from stockman.steps.vm_power import RUNNING

_DEVICE = re.compile(r"(?:hostpci|usb)\d+")


def moving(wish: GuestWish, guest: GuestSeen, config: VmConfig, needs: tuple[str, ...]) -> Step:
    """The step that brings a guest to the host that is asked for."""
    name, cluster = wish.who.name, wish.who.cluster
    held = _held(config) if guest.status == RUNNING and guest.kind == "qemu" else ()
    why = f"it is on {guest.host}, and {wish.host} is asked for"
    return Step(
        id=carried_id(name) if held else f"vms/move/{name}",
        action=MoveVm(vm=wish.who, host=guest.host, target=wish.host, down=bool(held)),
        stage=Stage.VMS,
        reason=f"{why}; {', '.join(held)} cannot move while it runs" if held else why,
        gates=(
            ProxmoxQuorum(cluster=cluster),
            HostOnline(cluster=cluster, host=wish.host),
        ),
        needs=needs,
        deadline=3600.0,
        lanes=(f"host/{cluster}/{guest.host}", f"host/{cluster}/{wish.host}"),
        node=name,
        seconds=60.0,
    )


def carried_id(name: str) -> str:
    """The step that brings a VM to another host while it is switched off."""
    return f"vms/carry/{name}"


def is_down(step: Step) -> bool:
    """Whether a step switches a VM off on its way."""
    return isinstance(step.action, MoveVm) and step.action.down


def _held(config: VmConfig) -> tuple[str, ...]:
    """Keys with devices of the host, which are passed on to nobody who runs."""
    found = (key for key, value in config.values.items() if "spice" not in value)
    return tuple(sorted(key for key in found if _DEVICE.fullmatch(key)))
