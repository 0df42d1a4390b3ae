"""The Talos stage of a plan: the desired machines, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning import problems as report
from stockman.planning.desired import DesiredState
from stockman.planning.observed.systems import Observed
from stockman.planning.talos import changes
from stockman.planning.talos.changes import (
    BootstrapEtcdChange,
    TalosChange,
    missing_controllers,
)
from stockman.planning.talos.desired import DesiredTalos
from stockman.planning.talos.refusals import find_refusals
from stockman.planning.vm.seeds import find_new_machines
from stockman.proxmox.cluster import GuestSummary
from stockman.steps.step import Step
from stockman.steps.talos.problems import earlier_etcd

_BOOTS = 1200.0
"""Maximum seconds from the start of a VM until its machine answers."""


def plan_talos_stage(
    desired_state: DesiredState, observed: Observed, vms: Mapping[str, Step], problems: Problems
) -> tuple[DesiredTalos | None, tuple[TalosChange, ...]]:
    """Return the desired machines and their changes; `vms` are the steps of their VMs.

    None: there are no machines, or they were not queried.
    """
    desired = desired_state.desired
    if desired.cluster is None or not observed.beyond_proxmox:
        return None, ()
    if observed.talos is None:
        problems.add(report.machines_unreachable())
        return None, ()
    names = tuple(str(node.name) for node in desired.nodes)
    desired_talos = DesiredTalos(
        desired=desired,
        configurations=desired_state.configurations,
        fresh=frozenset(name for name in names if f"vms/create/{name}" in vms),
        leaving={
            name: address
            for name, address in observed.leaving.items()
            if f"vms/destroy/{name}" in vms
        },
        rising=frozenset(_starting_nodes(desired, observed, vms)),
        api_answers=observed.api_answers,
        client_files=desired_state.client_files,
        needs={name: _vm_ready_step(name, vms) for name in names},
        new=find_new_machines(
            desired, observed.proxmox, vms, frozenset(_ready_nodes(desired, observed)), problems
        ),
        confirmed=desired_state.first_config,
    )
    stopped = bool(problems.errors)
    for problem in find_refusals(desired_talos, observed.talos):
        if problem.is_error or not stopped:
            problems.add(problem)
    planned = changes.plan_talos_changes(desired_talos, observed.talos)
    for change in planned:
        if isinstance(change, BootstrapEtcdChange) and (trace := _earlier_etcd(observed)):
            problems.add(earlier_etcd(change.node, trace))
    return desired_talos, planned


def _earlier_etcd(observed: Observed) -> str:
    """Return what knows an earlier etcd than the one that would be bootstrapped. Empty: nothing."""
    if observed.kubernetes is not None and observed.api_answers:
        return f"the Kubernetes API answers, with version {observed.kubernetes.version}"
    return observed.earlier_etcd


def _starting_nodes(desired: Desired, observed: Observed, vms: Mapping[str, Step]) -> Iterator[str]:
    """Return nodes whose VMs are started by this plan or started recently."""
    for node in desired.nodes:
        if node.vm is None or observed.node(str(node.name)) is not None:
            continue
        proxmox = observed.proxmox.get(str(node.vm.region))
        guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
        if f"vms/start/{node.name}" in vms or (guest is not None and _has_just_started(guest)):
            yield str(node.name)


def _ready_nodes(desired: Desired, observed: Observed) -> Iterator[str]:
    for node in desired.nodes:
        known = observed.node(str(node.name))
        if known is not None and known.is_ready:
            yield str(node.name)


def _vm_ready_step(node: str, vms: Mapping[str, Step]) -> tuple[str, ...]:
    """Return the last step of a VM before its machine can be contacted."""
    start = f"vms/start/{node}"
    if start in vms:
        return (start,)
    return tuple(step.id for step in vms.values() if step.node == node)


def find_etcd_blocker(
    desired: DesiredTalos | None,
    machines: tuple[TalosChange, ...],
    observed: Observed,
    problems: Problems,
) -> bool:
    """Whether etcd cannot be bootstrapped, so that nothing that depends on it can be done."""
    if desired is None or observed.talos is None:
        return False
    missing = missing_controllers(desired, observed.talos, machines)
    if missing and not problems.errors:
        problems.add(report.etcd_bootstrap_blocker(missing))
    return bool(missing)


def _has_just_started(guest: GuestSummary) -> bool:
    """Whether a guest started so recently that it need not answer yet."""
    return guest.status == "running" and guest.uptime is not None and guest.uptime < _BOOTS
