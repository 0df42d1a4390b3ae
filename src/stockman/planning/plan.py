"""All stages of a plan together: what differs anywhere, and in which order it is made true.

Pure: wishes and what was observed come in, changes and a graph of steps come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import problems as say
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
from stockman.planning.talos.step_ids import join_step_id
from stockman.planning.vm.desired import owner_of
from stockman.planning.vm.seeds import plan_seed_removals
from stockman.planning.windows import (
    gate_restarts,
    maintenance_windows,
    next_opening,
    nodes_to_restart,
)
from stockman.steps.digest import digest
from stockman.steps.plan import Plan, build_plan
from stockman.steps.step import Step
from stockman.steps.vm.seed import UploadSeed


@record
class PlannedChanges:
    """Changes, and the plan that makes them true."""

    changes: tuple[Change, ...]
    plan: Plan
    problems: Problems
    """With an error among them, the plan must not be carried out."""


def compose_plan(wishes: DesiredState, seen: Observed, made_at: datetime) -> PlannedChanges:
    """What is to be done."""
    return _PlanBuilder(wishes, seen).composition(made_at)


def digest_touched_objects(seen: Observed, identities: Iterable[str]) -> dict[str, str]:
    """Digests of what was seen under the identities that actions touch."""
    wanted = tuple(identities)
    found = digest_touched_guests(seen.proxmox, wanted)
    if seen.talos is not None:
        machines = changes.digest_touched_machines(seen.talos)
        found |= {name: machines[name] for name in wanted if name in machines}
    return found


class _PlanBuilder:
    def __init__(self, wishes: DesiredState, seen: Observed) -> None:
        self.wishes = wishes
        self.desired = wishes.desired
        self.seen = seen
        self.problems = Problems()

    def composition(self, made_at: datetime) -> PlannedChanges:
        wishes, seen, problems = self.wishes, self.seen, self.problems
        proxmox = plan_proxmox_changes(self.desired, seen.proxmox, problems, wishes.options)
        vms = {step.id: step for step in proxmox_steps(proxmox)}
        rendered: tuple[tuple[Change, Step], ...] = ()
        if wishes.kubernetes is not None:
            rendered = plan_rendering(self.desired, wishes.unrendered, proxmox)
        wish, machines = plan_talos_stage(wishes, seen, vms, problems)
        care = NodePreparation(self.desired, seen, problems)
        restarted = [name for name in self._nodes() if care.down(vms, name)]
        drains = care.drains(machines, restarted)
        if wish is not None:
            wish = replace(
                wish, drained_by=_step_ids(drains), holds=care.holds(machines, restarted)
            )
        talos = self._talos_steps(wish, machines)
        care.order(vms, machines, drains, restarted)
        waits = find_etcd_blocker(wish, machines, seen, problems)
        joined = [] if waits else [one.node for one in machines if isinstance(one, JoinChange)]
        gone = tuple(plan_node_deletions(care, vms, machines))
        talos = wait_for_node_deletion(talos, gone)
        seeds = self._seeds(proxmox, joined)
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
            kubernetes, kube_steps = plan_kubernetes_stage(wishes, seen, earlier, problems)
        surplus = tuple(plan_surplus_removal(wishes, seen, kube_steps, problems))
        steps = [
            *vms.values(),
            *earlier.rendered,
            *(step for one in drains.values() for step in one),
            *talos,
            *gone,
            *proxmox_steps(seeds),
            *kube_steps,
            *node_ready_steps(wishes, joined, kube_steps),
            *proxmox_steps(surplus),
        ]
        changes = (
            *proxmox,
            *(change for change, _ in rendered),
            *machines,
            *node_deletion_changes(gone),
            *seeds,
            *kubernetes,
            *surplus,
        )
        known = frozenset(name for name in self._nodes() if seen.node(name) is not None)
        ordered = serialize_restarts(
            {step.id: step for step in steps}, self.desired.nodes, known, wishes.chosen
        )
        timed = self._timed(ordered, made_at)
        return PlannedChanges(
            changes=changes,
            plan=self._plan(tuple(timed.values()), made_at),
            problems=problems,
        )

    def _timed(self, steps: Mapping[str, Step], now: datetime) -> Mapping[str, Step]:
        """Restarts wait for their window, and whoever reads the plan is told which one."""
        windows = () if self.wishes.any_time else maintenance_windows(self.desired.upgrade.windows)
        opening = next_opening(windows, now) if windows else ""
        if opening and (names := nodes_to_restart(steps)):
            self.problems.add(say.outside_windows(names, opening))
        return gate_restarts(steps, windows)

    def _plan(self, steps: tuple[Step, ...], made_at: datetime) -> Plan:
        plan = Plan(
            cluster=owner_of(self.desired),
            made_at=made_at,
            steps=steps,
            desired=digest(self.desired),
            lanes=lane_widths(steps),
        )
        return build_plan(replace(plan, touched=digest_touched_objects(self.seen, plan.touches)))

    def _nodes(self) -> tuple[str, ...]:
        return tuple(str(node.name) for node in self.desired.nodes)

    def _talos_steps(
        self, wish: DesiredTalos | None, machines: tuple[TalosChange, ...]
    ) -> tuple[Step, ...]:
        if wish is None or self.seen.talos is None:
            return ()
        return steps.talos_steps(wish, self.seen.talos, machines)

    def _seeds(
        self, proxmox: tuple[ProxmoxChange, ...], joined: list[str]
    ) -> tuple[ProxmoxChange, ...]:
        talos = self.seen.talos
        if talos is None:
            return ()
        created = {
            step.node: step.action.volume
            for change in proxmox
            for step in change.steps
            if isinstance(step.action, UploadSeed)
        }
        configured = {
            name: ((join_step_id(name),) if name in joined else ())
            for name in self._nodes()
            if name in joined or ((one := talos.machine(name)) is not None and one.is_configured)
        }
        return plan_seed_removals(self.desired, self.seen.proxmox, created, configured)


def _step_ids(drains: Mapping[str, tuple[Step, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(step.id for step in found) for name, found in drains.items()}
