"""Which systems a part of a plan has to look at: less than all, where it touches less than all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning.change import unique_steps
from stockman.planning.desired import ProxmoxOptions
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.stages.proxmox import plan_proxmox_changes
from stockman.steps.step import Stage

_ON_PROXMOX = (Stage.ACCESS, Stage.IMAGES, Stage.VMS)
_SHUTDOWN_ACTIONS = ("vms/destroy/", "vms/restart/", "vms/carry/")
_SEED_REMOVAL = "vms/unseed/"
"""Of the Talos stage, though it is about VMs."""
_OUTSIDE_PROXMOX = ("machine/", "file/", "etcd")
"""Identities that only machines, and files that lead to them, can tell about."""


def stages_to_observe(only: Iterable[Stage], until: str) -> frozenset[Stage]:
    """The stages that a part of a plan can have steps of, besides what those need."""
    found = frozenset(only) or frozenset(Stage)
    order = list(Stage)
    names = [stage.value for stage in order]
    first = until.partition("/")[0]
    if first in names and not until.startswith(_SEED_REMOVAL):
        found &= frozenset(order[: names.index(first) + 1])
    return found


def is_on_proxmox(stages: frozenset[Stage]) -> bool:
    """Whether these stages are about Proxmox VE, and about machines only where they go down."""
    return stages <= frozenset(_ON_PROXMOX)


def shuts_down_machines(
    desired: Desired, proxmox: Mapping[str, ObservedProxmox], options: ProxmoxOptions
) -> bool:
    """Whether a machine of a cluster that may be there goes down, or is made anew.

    Then pods are moved away and etcd is asked first, whatever stage is wanted.
    """
    if desired.cluster is None:
        return False
    ids = {
        step.id
        for step in unique_steps(plan_proxmox_changes(desired, proxmox, Problems(), options))
    }
    if any(one.startswith(_SHUTDOWN_ACTIONS) for one in ids):
        return True
    fresh = [node for node in desired.nodes if f"vms/create/{node.name}" in ids]
    return bool(fresh) and len(fresh) < len(desired.nodes)


def touches_machines(identities: Iterable[str]) -> bool:
    """Whether machines have to be asked to tell whether something was touched."""
    return any(one.startswith(_OUTSIDE_PROXMOX) for one in identities)
