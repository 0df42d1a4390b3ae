"""The first start of a guest. Nodes always run; other guests may be powered off afterwards."""

from __future__ import annotations

from dataclasses import replace

from stockman.model.names import HostName
from stockman.planning.vm.desired import DesiredGuest
from stockman.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm.gates import HostOnline
from stockman.steps.vm.ownership import parse_mark, render_mark, strip_mark
from stockman.steps.vm.power import StartVm

_MARK_TEXT = "description"


def mark_new(description: str) -> str:
    """Mark a guest as new: never started, or for a node never configured.

    An interrupted run starts it when it resumes. Only new nodes get a first configuration.
    """
    mark = parse_mark(description)
    if mark is None:
        return description
    return render_mark(replace(mark, is_new=True), strip_mark(description))


def mark_incomplete(description: str) -> str:
    """Mark a container as unfinished until the task that creates it has succeeded."""
    mark = parse_mark(description)
    if mark is None:
        return description
    return render_mark(replace(mark, is_unfinished=True), strip_mark(description))


def has_incomplete_mark(config: VmConfig) -> bool:
    """Whether the task that creates a container is not known to have succeeded."""
    mark = parse_mark(config.get(_MARK_TEXT))
    return mark is not None and mark.is_unfinished


def is_new(config: VmConfig) -> bool:
    """Whether a guest was created but never started, or a node never configured."""
    mark = parse_mark(config.get(_MARK_TEXT))
    return mark is not None and mark.is_new


def start_step(
    desired: DesiredGuest,
    host: HostName,
    needs: tuple[str, ...],
    reason: str,
    *,
    first: bool = False,
) -> Step:
    """Return the step that starts a guest; after the first start it may be powered off again."""
    afterwards = {_MARK_TEXT: desired.values[_MARK_TEXT]} if first else {}
    return Step(
        id=f"vms/start/{desired.identity.name}",
        action=StartVm(vm=desired.identity, host=host, afterwards=afterwards),
        stage=Stage.VMS,
        reason=reason,
        gates=(HostOnline(cluster=desired.identity.cluster, host=host),),
        needs=needs,
        lanes=(f"host/{desired.identity.cluster}/{host}",),
        node=desired.identity.name,
    )
