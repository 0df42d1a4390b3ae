"""The first start of a guest. Nodes always run; other guests may be switched off afterwards."""

from __future__ import annotations

from dataclasses import replace

from stockman.model.names import HostName
from stockman.planning.vm_mark import mark_text, read_mark, without_mark
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm_gates import HostOnline
from stockman.steps.vm_power import StartVm

_SAID = "description"


def marked_new(description: str) -> str:
    """What is said of a guest until it was started, so that whoever goes on after a kill does."""
    mark = read_mark(description)
    if mark is None:
        return description
    return mark_text(replace(mark, is_new=True), without_mark(description))


def marked_unfinished(description: str) -> str:
    """What is said of a container until the task that makes it has ended well."""
    mark = read_mark(description)
    if mark is None:
        return description
    return mark_text(replace(mark, is_unfinished=True), without_mark(description))


def says_unfinished(config: VmConfig) -> bool:
    """Whether nobody saw the task end well that made a container."""
    mark = read_mark(config.get(_SAID))
    return mark is not None and mark.is_unfinished


def is_new(config: VmConfig) -> bool:
    """Whether a guest was made and never started."""
    mark = read_mark(config.get(_SAID))
    return mark is not None and mark.is_new


def started(
    wish: GuestWish, host: HostName, needs: tuple[str, ...], reason: str, *, first: bool = False
) -> Step:
    """A guest is switched on; after the first time, whoever likes to may switch it off."""
    afterwards = {_SAID: wish.values[_SAID]} if first else {}
    return Step(
        id=f"vms/start/{wish.who.name}",
        action=StartVm(vm=wish.who, host=host, afterwards=afterwards),
        stage=Stage.VMS,
        reason=reason,
        gates=(HostOnline(cluster=wish.who.cluster, host=host),),
        needs=needs,
        lanes=(f"host/{wish.who.cluster}/{host}",),
        node=wish.who.name,
    )
