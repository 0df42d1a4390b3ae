"""The first start of a guest. Nodes always run; other guests may be switched off afterwards."""

from __future__ import annotations

from dataclasses import replace

from stockman.model.names import HostName
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.ownership import parse_mark, render_mark, strip_mark
from stockman.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm.gates import HostOnline
from stockman.steps.vm.power import StartVm

_MARK_TEXT = "description"


def mark_new(description: str) -> str:
    """What is said of a guest until it was started, so that whoever goes on after a kill does."""
    mark = parse_mark(description)
    if mark is None:
        return description
    return render_mark(replace(mark, is_new=True), strip_mark(description))


def mark_incomplete(description: str) -> str:
    """What is said of a container until the task that makes it has ended well."""
    mark = parse_mark(description)
    if mark is None:
        return description
    return render_mark(replace(mark, is_unfinished=True), strip_mark(description))


def has_incomplete_mark(config: VmConfig) -> bool:
    """Whether nobody saw the task end well that made a container."""
    mark = parse_mark(config.get(_MARK_TEXT))
    return mark is not None and mark.is_unfinished


def is_new(config: VmConfig) -> bool:
    """Whether a guest was made and never started."""
    mark = parse_mark(config.get(_MARK_TEXT))
    return mark is not None and mark.is_new


def start_step(
    wish: DesiredGuest, host: HostName, needs: tuple[str, ...], reason: str, *, first: bool = False
) -> Step:
    """A guest is switched on; after the first time, whoever likes to may switch it off."""
    afterwards = {_MARK_TEXT: wish.values[_MARK_TEXT]} if first else {}
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
