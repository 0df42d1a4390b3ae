"""The machines of a cluster in a plan: what is asked of them, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning import problems as say
from stockman.planning.desired import DesiredState
from stockman.planning.observed.systems import Observed
from stockman.planning.talos import changes
from stockman.planning.talos.changes import TalosChange, missing_controllers
from stockman.planning.talos.desired import DesiredTalos
from stockman.planning.talos.refusals import find_refusals
from stockman.proxmox.cluster import GuestSummary
from stockman.steps.step import Step

_BOOTS = 1200.0
"""Seconds that machines take at most from the start of their VMs until they answer."""


def plan_talos_stage(
    wishes: DesiredState, seen: Observed, vms: Mapping[str, Step], problems: Problems
) -> tuple[DesiredTalos | None, tuple[TalosChange, ...]]:
    """What is asked of the machines, and what of it is not so; steps of their VMs are given.

    No wish: there are no machines, or nobody looked at them.
    """
    desired = wishes.desired
    if desired.cluster is None or not seen.beyond_proxmox:
        return None, ()
    if seen.talos is None:
        problems.add(say.machines_unreachable())
        return None, ()
    names = tuple(str(node.name) for node in desired.nodes)
    wish = DesiredTalos(
        desired=desired,
        configurations=wishes.configurations,
        fresh=frozenset(name for name in names if f"vms/create/{name}" in vms),
        leaving={
            name: address for name, address in seen.leaving.items() if f"vms/destroy/{name}" in vms
        },
        rising=frozenset(_starting_nodes(desired, seen, vms)),
        api_answers=seen.api_answers,
        client_files=wishes.client_files,
        needs={name: _vm_ready_step(name, vms) for name in names},
    )
    stopped = bool(problems.errors)
    for problem in find_refusals(wish, seen.talos):
        if problem.is_error or not stopped:
            problems.add(problem)
    return wish, changes.plan_talos_changes(wish, seen.talos)


def _starting_nodes(desired: Desired, seen: Observed, vms: Mapping[str, Step]) -> Iterator[str]:
    """Nodes whose VMs are started by this plan, or were a moment ago."""
    for node in desired.nodes:
        if node.vm is None or seen.node(str(node.name)) is not None:
            continue
        proxmox = seen.proxmox.get(str(node.vm.region))
        guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
        if f"vms/start/{node.name}" in vms or (guest is not None and _has_just_started(guest)):
            yield str(node.name)


def _vm_ready_step(node: str, vms: Mapping[str, Step]) -> tuple[str, ...]:
    """The last step of its VM before a machine can be talked to."""
    start = f"vms/start/{node}"
    if start in vms:
        return (start,)
    return tuple(step.id for step in vms.values() if step.node == node)


def find_etcd_blocker(
    wish: DesiredTalos | None, machines: tuple[TalosChange, ...], seen: Observed, problems: Problems
) -> bool:
    """Whether etcd cannot begin, so that nothing after it can be done."""
    if wish is None or seen.talos is None:
        return False
    missing = missing_controllers(wish, seen.talos, machines)
    if missing and not problems.errors:
        problems.add(say.etcd_bootstrap_blocker(missing))
    return bool(missing)


def _has_just_started(guest: GuestSummary) -> bool:
    """Whether it was started so lately that nobody need worry about its silence."""
    return guest.status == "running" and guest.uptime is not None and guest.uptime < _BOOTS
