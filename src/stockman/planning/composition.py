"""All stages of a plan together: what differs anywhere, and in which order it is made true.

Pure: wishes and what was observed come in, changes and a graph of steps come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import composition_problems as say
from stockman.planning import proxmox_plan, talos_changes, talos_steps
from stockman.planning.access_surplus import surplus_changes
from stockman.planning.change import Change
from stockman.planning.kube_composition import Earlier, kubernetes_stage, ready_nodes
from stockman.planning.kube_stage import KubernetesChange
from stockman.planning.machine_stage import etcd_waits, machine_stage
from stockman.planning.node_care import NodeCare
from stockman.planning.node_forgetting import after_forgetting, forgetting, forgotten
from stockman.planning.observed import Observed
from stockman.planning.proxmox_change import ProxmoxChange, lanes
from stockman.planning.proxmox_change import steps as proxmox_steps
from stockman.planning.restart_windows import in_windows, next_opening, open_times, taken_down
from stockman.planning.rolling import rolling
from stockman.planning.talos_changes import BeginEtcd, EtcdComesUp, Join, TalosChange
from stockman.planning.talos_step_names import joined_id
from stockman.planning.talos_wish import TalosWish
from stockman.planning.tree_changes import rendered_files
from stockman.planning.vm_seeds import seed_removals
from stockman.planning.vm_wanted import owner_of
from stockman.planning.wishes import Wishes
from stockman.steps.digest import digest
from stockman.steps.plan import Plan, planned
from stockman.steps.step import Step
from stockman.steps.vm_seed import PutSeed


@record
class Composition:
    """Changes, and the plan that makes them true."""

    changes: tuple[Change, ...]
    plan: Plan
    problems: Problems
    """With an error among them, the plan must not be carried out."""


def composed(wishes: Wishes, seen: Observed, made_at: datetime) -> Composition:
    """What is to be done."""
    return _Composing(wishes, seen).composition(made_at)


def touched(seen: Observed, identities: Iterable[str]) -> dict[str, str]:
    """Digests of what was seen under the identities that actions touch."""
    wanted = tuple(identities)
    found = proxmox_plan.touched(seen.proxmox, wanted)
    if seen.talos is not None:
        machines = talos_changes.touched(seen.talos)
        found |= {name: machines[name] for name in wanted if name in machines}
    return found


class _Composing:
    def __init__(self, wishes: Wishes, seen: Observed) -> None:
        self.wishes = wishes
        self.desired = wishes.desired
        self.seen = seen
        self.problems = Problems()

    def composition(self, made_at: datetime) -> Composition:
        wishes, seen, problems = self.wishes, self.seen, self.problems
        proxmox = proxmox_plan.changes(self.desired, seen.proxmox, problems, wishes.options)
        vms = {step.id: step for step in proxmox_steps(proxmox)}
        rendered: tuple[tuple[Change, Step], ...] = ()
        if wishes.kubernetes is not None:
            rendered = rendered_files(self.desired, wishes.unrendered, proxmox)
        wish, machines = machine_stage(wishes, seen, vms, problems)
        care = NodeCare(self.desired, seen, problems)
        restarted = [name for name in self._nodes() if care.down(vms, name)]
        drains = care.drains(machines, restarted)
        if wish is not None:
            wish = replace(wish, drained_by=_ids(drains), holds=care.holds(machines, restarted))
        talos = self._talos_steps(wish, machines)
        care.order(vms, machines, drains, restarted)
        waits = etcd_waits(wish, machines, seen, problems)
        joined = [] if waits else [one.node for one in machines if isinstance(one, Join)]
        gone = tuple(forgotten(care, vms, machines))
        talos = after_forgetting(talos, gone)
        seeds = self._seeds(proxmox, joined)
        earlier = Earlier(
            talos=talos,
            rendered=tuple(step for _, step in rendered),
            comes_up=any(isinstance(one, BeginEtcd | EtcdComesUp) for one in machines),
        )
        kubernetes: tuple[KubernetesChange, ...] = ()
        kube_steps: tuple[Step, ...] = ()
        if not waits:
            kubernetes, kube_steps = kubernetes_stage(wishes, seen, earlier, problems)
        surplus = tuple(surplus_changes(wishes, seen, kube_steps, problems))
        steps = [
            *vms.values(),
            *earlier.rendered,
            *(step for one in drains.values() for step in one),
            *talos,
            *gone,
            *proxmox_steps(seeds),
            *kube_steps,
            *ready_nodes(wishes, joined, kube_steps),
            *proxmox_steps(surplus),
        ]
        changes = (
            *proxmox,
            *(change for change, _ in rendered),
            *machines,
            *forgetting(gone),
            *seeds,
            *kubernetes,
            *surplus,
        )
        known = frozenset(name for name in self._nodes() if seen.node(name) is not None)
        ordered = rolling(
            {step.id: step for step in steps}, self.desired.nodes, known, wishes.chosen
        )
        timed = self._timed(ordered, made_at)
        return Composition(
            changes=changes,
            plan=self._plan(tuple(timed.values()), made_at),
            problems=problems,
        )

    def _timed(self, steps: Mapping[str, Step], now: datetime) -> Mapping[str, Step]:
        """Restarts wait for their window, and whoever reads the plan is told which one."""
        windows = () if self.wishes.any_time else open_times(self.desired.upgrade.windows)
        opening = next_opening(windows, now) if windows else ""
        if opening and (names := taken_down(steps)):
            self.problems.add(say.outside_windows(names, opening))
        return in_windows(steps, windows)

    def _plan(self, steps: tuple[Step, ...], made_at: datetime) -> Plan:
        plan = Plan(
            cluster=owner_of(self.desired),
            made_at=made_at,
            steps=steps,
            desired=digest(self.desired),
            lanes=lanes(steps),
        )
        return planned(replace(plan, touched=touched(self.seen, plan.touches)))

    def _nodes(self) -> tuple[str, ...]:
        return tuple(str(node.name) for node in self.desired.nodes)

    def _talos_steps(
        self, wish: TalosWish | None, machines: tuple[TalosChange, ...]
    ) -> tuple[Step, ...]:
        if wish is None or self.seen.talos is None:
            return ()
        return talos_steps.steps(wish, self.seen.talos, machines)

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
            if isinstance(step.action, PutSeed)
        }
        configured = {
            name: ((joined_id(name),) if name in joined else ())
            for name in self._nodes()
            if name in joined or ((one := talos.machine(name)) is not None and one.is_configured)
        }
        return seed_removals(self.desired, self.seen.proxmox, created, configured)


def _ids(drains: Mapping[str, tuple[Step, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(step.id for step in found) for name, found in drains.items()}
