"""Which guest is meant: number, name and UUID together, and the guest that has them."""

from __future__ import annotations

from uuid import UUID

from stockman.model.errors import Locked, NotFound, Refused
from stockman.model.names import HostName, Vmid
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.proxmox import Proxmox
from stockman.ports.proxmox.cluster import GuestKind
from stockman.ports.proxmox.vms import GuestRef, VmConfig
from stockman.steps import vm_problems as problems
from stockman.steps.ports import Ports

_UNFINISHED = ("create", "clone", "import")


class LeftBlank(Refused):
    """A guest without a single key: a host died while it made one, and root unlocked what it left.

    Proxmox VE writes everything into a new guest at once, so that there is nothing in it yet.
    """

    def __init__(self, problem: Problem, seen: Found) -> None:
        super().__init__(problem)
        self.seen = seen


@record
class Identity:
    """A guest by everything that has to be right about it before it is touched."""

    cluster: str
    """Name of the Proxmox cluster."""
    vmid: Vmid
    name: str
    uuid: UUID | None = None
    """SMBIOS UUID. None: a container, which has none; its name and mark have to do."""
    kind: GuestKind = "qemu"

    @property
    def touched(self) -> str:
        """How plans name it."""
        return f"vm/{self.cluster}/{self.vmid}"

    @property
    def called(self) -> str:
        return f"{'VM' if self.kind == 'qemu' else 'container'} {self.vmid} ({self.name})"


@record
class Found:
    """The guest itself, where it is now."""

    at: GuestRef
    config: VmConfig

    @property
    def lock(self) -> str:
        """Empty: nobody works on it."""
        return self.config.get("lock")


async def found(ports: Ports, who: Identity, host: HostName) -> Found | None:
    """The guest, looked for on its host first. None: no guest has the number.

    `Refused` where another guest has it, or one that the token may not see, `LeftBlank` where it
    says nothing at all; `Locked` while somebody makes it, because it has neither name nor UUID
    before it is finished.
    """
    pve = ports.on(who.cluster)
    seen = await _on(pve, who, host)
    if seen is None:
        # No guest of the whole cluster has a number that is free, also none that is hidden.
        if await pve.is_vmid_free(who.vmid):
            return None
        for one in (await pve.resources()).guests:
            if one.vmid == who.vmid and seen is None:
                seen = await _at(pve, GuestRef(host=one.host, vmid=one.vmid, kind=one.kind))
    if seen is None:
        raise Refused(problems.hidden(who.cluster, who.vmid, who.name))
    if is_unfinished(seen.config):
        raise Locked(problems.unfinished(who.kind, who.vmid, who.name, seen.at.host))
    if is_blank(seen.config):
        raise LeftBlank(problems.blank(who.vmid, who.name, seen.at.host), seen)
    if not is_same(who, seen):
        raise Refused(
            problems.another_guest(
                who.vmid, who.name, seen.at.host, seen.config.name, seen.config.uuid
            )
        )
    return seen


async def present(ports: Ports, who: Identity, host: HostName) -> Found:
    """The guest; `Refused` where there is none any more."""
    seen = await found(ports, who, host)
    if seen is None:
        raise Refused(problems.gone(who.vmid, who.name, host))
    return seen


def is_unfinished(config: VmConfig) -> bool:
    """Whether somebody makes it right now, so that it has neither name nor UUID yet."""
    return config.get("lock") in _UNFINISHED and not config.name


def is_blank(config: VmConfig) -> bool:
    """Whether nothing was ever written into it."""
    return not config.values and not config.waiting


def is_same(who: Identity, seen: Found) -> bool:
    """Whether a guest is the one that is meant."""
    return (who.kind, who.name, who.uuid) == (
        seen.at.kind,
        seen.config.name,
        seen.config.uuid if who.kind == "qemu" else None,
    )


async def _on(pve: Proxmox, who: Identity, host: HostName) -> Found | None:
    return await _at(pve, GuestRef(host=host, vmid=who.vmid, kind=who.kind))


async def _at(pve: Proxmox, at: GuestRef) -> Found | None:
    try:
        return Found(at=at, config=await pve.vm_config(at))
    except NotFound:
        return None
