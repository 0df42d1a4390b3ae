"""Composes the plan of all stages: what differs, and in which order it is resolved.

Pure: desired and observed state in, changes and a graph of steps out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import problems as report
from stockman.planning.access.surplus import plan_surplus_removal
from stockman.planning.change import Change, ProxmoxChange, lane_widths
from stockman.planning.change import unique_steps as proxmox_steps
from stockman.planning.desired import DesiredState
from stockman.planning.kubernetes.changes import KubernetesChange
from stockman.planning.kubernetes.nodes import (
    NodePreparation,
    node_deletion_changes,
    plan_node_deletions,
    wait_for_node_deletion,
)
from stockman.planning.observed.systems import Observed
from stockman.planning.repository import plan_rendering
from stockman.planning.rolling import serialize_restarts
from stockman.planning.stages.kubernetes import (
    EarlierStages,
    node_ready_steps,
    plan_kubernetes_stage,
)
from stockman.planning.stages.proxmox import digest_touched_guests, plan_proxmox_changes
from stockman.planning.stages.talos import find_etcd_blocker, plan_talos_stage
from stockman.planning.talos import changes, steps
from stockman.planning.talos.changes import (
    BootstrapEtcdChange,
    EtcdStartingChange,
    JoinChange,
    TalosChange,
)
from stockman.planning.talos.desired import DesiredTalos
from stockman.planning.talos.step_ids import configure_step_id, join_step_id
from stockman.planning.vm.desired import guest_owner, owner_of
from stockman.planning.vm.seeds import (
    SeedPlan,
    delivered_volumes,
    plan_seed_removals,
    plan_unused_seed_deletion,
    seed_step_id,
)
from stockman.planning.windows import (
    gate_restarts,
    maintenance_windows,
    next_opening,
    nodes_to_restart,
)
from stockman.steps.digest import digest
from stockman.steps.plan import Plan, build_plan
from stockman.steps.step import Step
from stockman.steps.talos.machine import MachineState
from stockman.steps.vm.destroy import DestroyVm


@record
class PlannedChanges:
    """The changes, and the plan that resolves them."""

    changes: tuple[Change, ...]
    plan: Plan
    problems: Problems
    """With an error among them, the plan must not be executed."""


def compose_plan(
    desired_state: DesiredState, observed: Observed, made_at: datetime
) -> PlannedChanges:
    """Compose the plan of all stages."""
    return _PlanBuilder(desired_state, observed).build(made_at)


def digest_touched_objects(observed: Observed, identities: Iterable[str]) -> dict[str, str]:
    """Return digests of the observed state of the identities that actions touch."""
    touched = tuple(identities)
    digests = digest_touched_guests(observed.proxmox, touched)
    if observed.talos is not None:
        machines = changes.digest_touched_machines(observed.talos)
        digests |= {name: machines[name] for name in touched if name in machines}
    return digests


_EMPTY = MachineState.MAINTENANCE


class _PlanBuilder:
    def __init__(self, desired_state: DesiredState, observed: Observed) -> None:
        self.desired_state = desired_state
        self.desired = desired_state.desired
        self.observed = observed
        self.problems = Problems()

    def build(self, made_at: datetime) -> PlannedChanges:
        desired_state, observed, problems = self.desired_state, self.observed, self.problems
        proxmox = plan_proxmox_changes(
            self.desired, observed.proxmox, problems, desired_state.options
        )
        vms = {step.id: step for step in proxmox_steps(proxmox)}
        rendered: tuple[tuple[Change, Step], ...] = ()
        if desired_state.kubernetes is not None:
            rendered = plan_rendering(self.desired, desired_state.unrendered, proxmox)
        desired_talos, machines = plan_talos_stage(desired_state, observed, vms, problems)
        for name in self._leaving_without_etcd(vms):
            problems.add(report.removal_without_etcd(name))
        preparation = NodePreparation(self.desired, observed, problems)
        restarted = [name for name in self._nodes() if preparation.down(vms, name)]
        drains = preparation.drains(machines, restarted)
        if desired_talos is not None:
            desired_talos = replace(
                desired_talos,
                drained_by=_step_ids(drains),
                holds=preparation.holds(machines, restarted),
            )
        talos = self._talos_steps(desired_talos, machines)
        preparation.order(vms, machines, drains, restarted)
        waits = find_etcd_blocker(desired_talos, machines, observed, problems)
        joined = (
            [] if waits else [change.node for change in machines if isinstance(change, JoinChange)]
        )
        deletions = tuple(plan_node_deletions(preparation, vms, machines))
        talos = wait_for_node_deletion(talos, deletions)
        self._start_after_seeds(vms, machines)
        seeds = self._seeds(vms, machines, talos)
        earlier = EarlierStages(
            talos=talos,
            rendered=tuple(step for _, step in rendered),
            comes_up=any(
                isinstance(one, BootstrapEtcdChange | EtcdStartingChange) for one in machines
            ),
        )
        kubernetes: tuple[KubernetesChange, ...] = ()
        kube_steps: tuple[Step, ...] = ()
        if not waits:
            kubernetes, kube_steps = plan_kubernetes_stage(
                desired_state, observed, earlier, problems
            )
        surplus = tuple(plan_surplus_removal(desired_state, observed, kube_steps, problems))
        steps = [
            *vms.values(),
            *earlier.rendered,
            *(step for drain_steps in drains.values() for step in drain_steps),
            *talos,
            *deletions,
            *proxmox_steps(seeds),
            *kube_steps,
            *node_ready_steps(desired_state, joined, kube_steps),
            *proxmox_steps(surplus),
        ]
        changes = (
            *proxmox,
            *(change for change, _ in rendered),
            *machines,
            *node_deletion_changes(deletions),
            *seeds,
            *kubernetes,
            *surplus,
        )
        known = frozenset(name for name in self._nodes() if observed.node(name) is not None)
        ordered = serialize_restarts(
            {step.id: step for step in steps}, self.desired.nodes, known, desired_state.chosen
        )
        timed = self._apply_windows(ordered, made_at)
        return PlannedChanges(
            changes=changes,
            plan=self._plan(tuple(timed.values()), made_at),
            problems=problems,
        )

    def _leaving_without_etcd(self, vms: Mapping[str, Step]) -> list[str]:
        """Return machines that would be deleted although it is unknown who is in etcd."""
        talos = self.observed.talos
        if talos is None or talos.etcd.members or not (talos.etcd.begun or talos.etcd.unknown):
            return []
        return [
            name
            for name in sorted(self.observed.leaving)
            if f"vms/destroy/{name}" in vms
            and ((machine := talos.machine(name)) is None or machine.standing is not _EMPTY)
        ]

    def _apply_windows(self, steps: Mapping[str, Step], now: datetime) -> Mapping[str, Step]:
        """Gate restarts by maintenance windows, and warn if none is open."""
        windows = (
            () if self.desired_state.any_time else maintenance_windows(self.desired.upgrade.windows)
        )
        opening = next_opening(windows, now) if windows else ""
        if opening and (names := nodes_to_restart(steps)):
            self.problems.add(report.outside_windows(names, opening))
        return gate_restarts(steps, windows)

    def _plan(self, steps: tuple[Step, ...], made_at: datetime) -> Plan:
        plan = Plan(
            cluster=owner_of(self.desired),
            made_at=made_at,
            steps=steps,
            desired=digest(self.desired),
            lanes=lane_widths(steps),
        )
        return build_plan(
            replace(plan, touched=digest_touched_objects(self.observed, plan.touches))
        )

    def _nodes(self) -> tuple[str, ...]:
        return tuple(str(node.name) for node in self.desired.nodes)

    def _talos_steps(
        self, desired_talos: DesiredTalos | None, machines: tuple[TalosChange, ...]
    ) -> tuple[Step, ...]:
        if desired_talos is None or self.observed.talos is None:
            return ()
        return steps.talos_steps(desired_talos, self.observed.talos, machines)

    def _start_after_seeds(self, vms: dict[str, Step], machines: tuple[TalosChange, ...]) -> None:
        """Let VMs start after their drives have the configurations of their machines."""
        for change in machines:
            if isinstance(change, JoinChange) and change.new and change.new.is_starting:
                start = vms[change.new.start.id]
                vms[start.id] = replace(start, needs=(*start.needs, seed_step_id(change.node)))

    def _seeds(
        self,
        vms: Mapping[str, Step],
        machines: tuple[TalosChange, ...],
        talos: tuple[Step, ...],
    ) -> tuple[ProxmoxChange, ...]:
        """Delete images with configurations as soon as they are not needed."""
        delivered = delivered_volumes(talos)
        removals: tuple[ProxmoxChange, ...] = ()
        if self.observed.talos is not None:
            joins = {change.node for change in machines if isinstance(change, JoinChange)}
            known = self.observed.talos.machines
            configured: dict[str, tuple[str, ...]] = {
                name: () for name, machine in known.items() if machine.is_configured
            }
            configured |= {name: (configure_step_id(name),) for name in joins}
            steps = {step.id for step in talos}
            joined = {
                name: (step,) if (step := join_step_id(name)) in steps else configured[name]
                for name in configured
            }
            plan = SeedPlan(delivered=delivered, configured=configured, joined=joined)
            removals = plan_seed_removals(self.desired, self.observed.proxmox, plan)
        gone = [step for step in vms.values() if isinstance(step.action, DestroyVm)]
        unused = (
            change
            for proxmox in self.observed.proxmox.values()
            for change in plan_unused_seed_deletion(
                proxmox, guest_owner(self.desired), gone, frozenset(delivered.values())
            )
        )
        return (*removals, *unused)


def _step_ids(drains: Mapping[str, tuple[Step, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(step.id for step in drain_steps) for name, drain_steps in drains.items()}
