"""Guests of ours that nobody wants any more: which they are, and how they go."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.names import Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox_strings import truth
from stockman.planning.change import Mark
from stockman.planning.fact import Fact
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.planning.vm_mark import TAG, TEMPLATE_TAG, own_tags, read_mark
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps import vm_problems as work
from stockman.steps.base import Gate
from stockman.steps.step import Stage, Step
from stockman.steps.vm_destroy import DestroyVm, would_be_lost
from stockman.steps.vm_disks import drives
from stockman.steps.vm_gates import HostOnline, ProxmoxQuorum
from stockman.steps.vm_identity import Identity


def removal(
    guest: GuestSeen, config: VmConfig, region: str, needs: tuple[str, ...], why: str
) -> ProxmoxChange:
    """A guest of ours that should not be any more."""
    mark = read_mark(config.get("description"))
    who = Identity(
        cluster=region,
        vmid=guest.vmid,
        name=config.name,
        uuid=config.uuid if guest.kind == "qemu" else None,
        kind=guest.kind,
    )
    action = DestroyVm(vm=who, host=guest.host, scratch=mark.scratch if mark is not None else ())
    gates: tuple[Gate, ...] = (
        ProxmoxQuorum(cluster=region),
        HostOnline(cluster=region, host=guest.host),
    )
    step = Step(
        id=f"vms/destroy/{config.name}",
        action=action,
        stage=Stage.VMS,
        reason=why,
        gates=gates,
        needs=needs,
        lanes=(f"host/{region}/{guest.host}",),
        node=config.name,
        seconds=15.0,
    )
    return ProxmoxChange(
        region=region,
        what=f"{who.called} on {guest.host}",
        why=f"{why}{_outliving(guest, config)}",
        mark=Mark.REMOVE,
        stage=Stage.VMS,
        destroys=action.destroys,
        node=config.name,
        steps=(step,),
    )


def _outliving(guest: GuestSeen, config: VmConfig) -> str:
    """What to say of disks that stay when a guest goes."""
    found = [
        str(drive.volume)
        for drive in drives(config).values()
        if drive.volume is not None and not drive.is_cdrom and drive.volume.owner != guest.vmid
    ]
    if not found:
        return ""
    return f"; {', '.join(found)} stay{'s' if len(found) == 1 else ''}"


def check_removal(guest: GuestSeen, config: VmConfig, problems: Problems) -> None:
    """Report what keeps a guest from being removed, before anything else is done."""
    if truth(config.get("protection", "0")):
        problems.add(work.protected(guest.vmid, config.name))
    mark = read_mark(config.get("description"))
    scratch = mark.scratch if mark is not None else ()
    if lost := tuple(would_be_lost(config, guest.vmid, scratch)):
        problems.add(work.data_disks(guest.vmid, config.name, lost))


def surplus(
    seen: ObservedProxmox, owner: str, wanted: frozenset[Vmid]
) -> Iterator[tuple[GuestSeen, VmConfig]]:
    """Guests of an owner that the configuration does not have; templates are not among them."""
    for guest in seen.guests():
        if TEMPLATE_TAG in guest.tags:
            continue
        fact = seen.configs.get(guest.vmid)
        if guest.vmid in wanted or TAG not in guest.tags or not isinstance(fact, Fact):
            continue
        mark = read_mark(fact.value.get("description"))
        if mark is not None and mark.owner == owner and mark.name == fact.value.name:
            yield guest, fact.value


def unseen(seen: ObservedProxmox, owner: str, wanted: frozenset[Vmid]) -> Iterator[GuestSeen]:
    """Guests with the tags of an owner that the configuration does not have, on hosts that do not
    answer."""
    tags = set(own_tags(owner))
    for guest in seen.guests():
        is_known = isinstance(seen.configs.get(guest.vmid), Fact)
        is_other = guest.vmid not in wanted and TEMPLATE_TAG not in guest.tags
        if is_other and not is_known and tags <= set(guest.tags):
            yield guest
