"""Which systems a part of a plan has to observe."""

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
_SEED_REMOVAL = ("vms/unseed/", "vms/complete/")
"""Steps of the Talos stage that change a VM."""
_OUTSIDE_PROXMOX = ("machine/", "file/", "etcd")
"""Prefixes of identities that are only known from machines and client files."""


def stages_to_observe(only: Iterable[Stage], until: str) -> frozenset[Stage]:
    """Return the stages that a part of a plan can have steps of, besides their dependencies."""
    stages = frozenset(only) or frozenset(Stage)
    order = list(Stage)
    names = [stage.value for stage in order]
    first = until.partition("/")[0]
    if first in names and not until.startswith(_SEED_REMOVAL):
        stages &= frozenset(order[: names.index(first) + 1])
    return stages


def is_on_proxmox(stages: frozenset[Stage]) -> bool:
    """Whether all stages are about Proxmox VE, which involves machines only when they shut down."""
    return stages <= frozenset(_ON_PROXMOX)


def shuts_down_machines(
    desired: Desired, proxmox: Mapping[str, ObservedProxmox], options: ProxmoxOptions
) -> bool:
    """Whether a machine of an existing cluster shuts down or is recreated.

    In that case pods are drained and etcd is checked first, whatever stage was selected.
    """
    if desired.cluster is None:
        return False
    ids = {
        step.id
        for step in unique_steps(plan_proxmox_changes(desired, proxmox, Problems(), options))
    }
    if any(step_id.startswith(_SHUTDOWN_ACTIONS) for step_id in ids):
        return True
    fresh = [node for node in desired.nodes if f"vms/create/{node.name}" in ids]
    return bool(fresh) and len(fresh) < len(desired.nodes)


def touches_machines(identities: Iterable[str]) -> bool:
    """Whether machines have to be queried to find out whether something was touched."""
    return any(step_id.startswith(_OUTSIDE_PROXMOX) for step_id in identities)
