"""All stages of a plan together: what differs anywhere, and in which order it is made true.

Pure: wishes and what was observed come in, changes and a graph of steps come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime

from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning import composition_problems as say
from stockman.planning import kube_stage, proxmox_plan, talos_changes, talos_steps
from stockman.planning.change import Change, Mark
from stockman.planning.kube_foreign import foreign
from stockman.planning.kube_nodes import Leaving, cordon, drain, removal
from stockman.planning.kube_stage import KubernetesChange
from stockman.planning.kube_wish import KubernetesWish
from stockman.planning.observed import Observed
from stockman.planning.observed_kubernetes import SeenNode
from stockman.planning.proxmox_change import ProxmoxChange, lanes
from stockman.planning.proxmox_change import steps as proxmox_steps
from stockman.planning.rolling import node_ready, rolling
from stockman.planning.talos_changes import (
    BeginEtcd,
    EtcdComesUp,
    Join,
    Leave,
    Reconfigure,
    TalosChange,
    etcd_waits_for,
)
from stockman.planning.talos_refusals import refusals
from stockman.planning.talos_wish import TalosWish, machine_of
from stockman.planning.tree_changes import rendered_files
from stockman.planning.vm_seeds import seed_removals
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.steps.base import Gate, Hold
from stockman.steps.checkpoint import Checkpoint
from stockman.steps.digest import digest
from stockman.steps.etcd_gates import EtcdQuorum
from stockman.steps.plan import Plan, planned
from stockman.steps.step import Stage, Step
from stockman.steps.talos_absent import VmPlace
from stockman.steps.talos_clients import WriteClientFile
from stockman.steps.talos_machine import TalosMachine
from stockman.steps.vm_seed import PutSeed

_BOOTS = 1200.0
"""Seconds that machines take at most from the start of their VMs until they answer."""
_LEAVES = "the configuration does not have it"


@record
class Wishes:
    """Everything that should be, with what was made from it."""

    desired: Desired
    configurations: Mapping[str, Secret] = field(default_factory=dict)
    """Machine configurations by node."""
    client_files: tuple[WriteClientFile, ...] = ()
    kubernetes: KubernetesWish | None = None
    """None: there is no cluster."""
    unrendered: tuple[str, ...] = ()
    """Files that are not on disk as they would be rendered."""
    push: bool = False
    """Whether what was rendered is committed and pushed."""
    reconcile: bool = False
    """Whether Flux is asked to look at the repository now."""
    unpushed: str = ""
    """How the pushed commit differs from the tree. Empty: it does not, or nobody asked."""
    chosen: frozenset[str] = frozenset()
    """Nodes that alone are wanted: none of theirs waits for others to be restarted. Empty: all."""
    options: proxmox_plan.Options = proxmox_plan.Options()


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
        proxmox = proxmox_plan.changes(
            self.desired, self.seen.proxmox, self.problems, self.wishes.options
        )
        vms = {step.id: step for step in proxmox_steps(proxmox)}
        rendered: tuple[tuple[Change, Step], ...] = ()
        if self.wishes.kubernetes is not None:
            rendered = rendered_files(self.desired, self.wishes.unrendered, proxmox)
        fresh = frozenset(
            str(node.name) for node in self.desired.nodes if f"vms/create/{node.name}" in vms
        )
        wish, machines = self._machines(fresh, vms)
        restarted = [name for name in self._nodes() if f"vms/restart/{name}" in vms]
        drains = self._drains(machines, restarted)
        if wish is not None:
            wish = replace(wish, drained_by=_ids(drains), holds=self._holds(machines, restarted))
        talos = self._talos_steps(wish, machines)
        self._after_machines(vms, machines, drains, restarted)
        waits = self._etcd_waits(wish, machines)
        joined = [] if waits else [one.node for one in machines if isinstance(one, Join)]
        forgotten = tuple(self._forgotten(vms, machines))
        talos = self._after_forgetting(talos, forgotten)
        seeds = self._seeds(proxmox, joined)
        comes_up = any(isinstance(one, BeginEtcd | EtcdComesUp) for one in machines)
        kubernetes: tuple[KubernetesChange, ...] = ()
        kube_steps: tuple[Step, ...] = ()
        if not waits:
            kubernetes, kube_steps = self._kubernetes(talos, rendered, comes_up=comes_up)
        steps = [
            *vms.values(),
            *(step for _, step in rendered),
            *(step for one in drains.values() for step in one),
            *talos,
            *forgotten,
            *proxmox_steps(seeds),
            *kube_steps,
            *self._ready(joined, kube_steps),
        ]
        changes = (
            *proxmox,
            *(change for change, _ in rendered),
            *machines,
            *self._forgetting(forgotten),
            *seeds,
            *kubernetes,
        )
        known = frozenset(name for name in self._nodes() if self._node(name) is not None)
        ordered = rolling(
            {step.id: step for step in steps}, self.desired.nodes, known, self.wishes.chosen
        )
        return Composition(
            changes=changes,
            plan=self._plan(tuple(ordered.values()), made_at),
            problems=self.problems,
        )

    def _plan(self, steps: tuple[Step, ...], made_at: datetime) -> Plan:
        cluster = self.desired.cluster
        plan = Plan(
            cluster=cluster.name if cluster is not None else "guests",
            made_at=made_at,
            steps=steps,
            desired=digest(self.desired),
            lanes=lanes(steps),
        )
        return planned(replace(plan, touched=touched(self.seen, plan.touches)))

    def _nodes(self) -> tuple[str, ...]:
        return tuple(str(node.name) for node in self.desired.nodes)

    def _node(self, name: str) -> SeenNode | None:
        seen = self.seen.kubernetes
        return seen.node(name) if seen is not None and self.seen.api_answers else None

    # -- machines -----------------------------------------------------------------------------

    def _machines(
        self, fresh: frozenset[str], vms: Mapping[str, Step]
    ) -> tuple[TalosWish | None, tuple[TalosChange, ...]]:
        if self.desired.cluster is None or not self.seen.beyond_proxmox:
            return None, ()
        if self.seen.talos is None:
            self.problems.add(say.no_look_at_machines())
            return None, ()
        wish = TalosWish(
            desired=self.desired,
            configurations=self.wishes.configurations,
            fresh=fresh,
            leaving={
                name: address
                for name, address in self.seen.leaving.items()
                if f"vms/destroy/{name}" in vms
            },
            rising=frozenset(self._rising(vms)),
            api_answers=self.seen.api_answers,
            client_files=self.wishes.client_files,
            needs={name: self._made(name, vms) for name in self._nodes()},
        )
        stopped = bool(self.problems.errors)
        for problem in refusals(wish, self.seen.talos):
            if problem.is_error or not stopped:
                self.problems.add(problem)
        return wish, talos_changes.changes(wish, self.seen.talos)

    def _rising(self, vms: Mapping[str, Step]) -> Iterator[str]:
        """Nodes whose VMs are started by this plan, or were a moment ago."""
        for node in self.desired.nodes:
            if node.vm is None or self._node(str(node.name)) is not None:
                continue
            proxmox = self.seen.proxmox.get(str(node.vm.region))
            guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
            if f"vms/start/{node.name}" in vms or (guest is not None and _is_young(guest)):
                yield str(node.name)

    def _made(self, node: str, vms: Mapping[str, Step]) -> tuple[str, ...]:
        """The last step of its VM before a machine can be talked to."""
        start = f"vms/start/{node}"
        if start in vms:
            return (start,)
        return tuple(step.id for step in vms.values() if step.node == node)

    def _drains(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Step, ...]]:
        found: dict[str, tuple[Step, ...]] = {}
        reasons = dict.fromkeys(restarted, "its VM is restarted")
        for one in machines:
            if isinstance(one, Leave):
                reasons[one.node] = one.why
            elif isinstance(one, Reconfigure) and one.boot_id:
                reasons[one.node] = "it is booted again"
        for name, why in reasons.items():
            node = self._node(name)
            if node is not None:
                found[name] = drain(node, Leaving(reason=why, stage=Stage.TALOS))
            elif self._has_kubernetes():
                self._undrained(name)
        return found

    def _undrained(self, name: str) -> None:
        """A machine that runs pods, perhaps, and nobody can tell."""
        if not self.seen.api_answers:
            self.problems.add(say.cannot_drain(name))

    def _has_kubernetes(self) -> bool:
        talos = self.seen.talos
        return talos is not None and bool(talos.etcd.begun)

    def _holds(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Hold, ...]]:
        names = {one.node for one in machines if isinstance(one, Leave | Reconfigure)}
        found: dict[str, tuple[Hold, ...]] = {}
        for name in (*names, *restarted):
            if held := self._held(name):
                found[name] = held
        return found

    def _held(self, name: str) -> tuple[Hold, ...]:
        """Nothing new is put on a node that leaves, until Kubernetes forgets it."""
        node = self._node(name)
        return (cordon(node),) if node is not None and node.is_ready else ()

    def _etcd_waits(self, wish: TalosWish | None, machines: tuple[TalosChange, ...]) -> bool:
        """Whether etcd cannot begin, so that nothing after it can be done."""
        if wish is None or self.seen.talos is None:
            return False
        missing = etcd_waits_for(wish, self.seen.talos, machines)
        if missing and not self.problems.errors:
            self.problems.add(say.etcd_waits(missing))
        return bool(missing)

    def _talos_steps(
        self, wish: TalosWish | None, machines: tuple[TalosChange, ...]
    ) -> tuple[Step, ...]:
        if wish is None or self.seen.talos is None:
            return ()
        return talos_steps.steps(wish, self.seen.talos, machines)

    def _after_machines(
        self,
        vms: dict[str, Step],
        machines: tuple[TalosChange, ...],
        drains: Mapping[str, tuple[Step, ...]],
        restarted: list[str],
    ) -> None:
        """VMs are deleted after their machines left, made anew after that, restarted when empty."""
        for name in {step.node for step in vms.values() if step.node}:
            before = talos_steps.before_vm(machines, name)
            for step_id in (f"vms/destroy/{name}", f"vms/create/{name}"):
                if before and step_id in vms:
                    step = vms[step_id]
                    held = self._held(name) if step_id.startswith("vms/destroy/") else ()
                    vms[step_id] = replace(step, needs=(*step.needs, *before), holds=held)
        for name in restarted:
            step = vms[f"vms/restart/{name}"]
            vms[step.id] = self._careful(step, name, drains.get(name, ()))

    def _careful(self, step: Step, name: str, drained: tuple[Step, ...]) -> Step:
        node = next(one for one in self.desired.nodes if str(one.name) == name)
        held = self._node(name)
        quorum: tuple[Gate, ...] = ()
        if node.is_controller:
            vm = node.vm
            place = VmPlace(cluster=str(vm.region), vmid=vm.vmid) if vm is not None else None
            quorum = (EtcdQuorum(controllers=self._controllers(), node=name, vm=place),)
        lane = (talos_steps.ETCD_LANE,) if node.is_controller else ()
        return replace(
            step,
            gates=(*step.gates, *quorum),
            holds=(cordon(held),) if held is not None and held.is_ready else (),
            needs=(*step.needs, *(one.id for one in drained)),
            lanes=(*step.lanes, talos_steps.REBOOT_LANE, *lane),
            deadline=1800.0,
        )

    def _controllers(self) -> tuple[TalosMachine, ...]:
        return tuple(machine_of(node) for node in self.desired.nodes if node.is_controller)

    # -- nodes of Kubernetes ------------------------------------------------------------------

    def _forgotten(
        self, vms: Mapping[str, Step], machines: tuple[TalosChange, ...]
    ) -> Iterator[Step]:
        """Node objects whose machines are gone: of those that leave, and of those made anew."""
        joins = {one.node for one in machines if isinstance(one, Join)}
        gone = {step.node for step in vms.values() if step.id.startswith("vms/destroy/")}
        for name in sorted(gone | {one for one in joins if f"vms/create/{one}" in vms}):
            node = self._node(name)
            if node is None:
                continue
            after = f"vms/destroy/{name}" if name in gone else f"vms/create/{name}"
            why = "its machine is made anew" if name in joins else _LEAVES
            step = removal(node, Leaving(reason=why, needs=(after,), stage=Stage.TALOS))
            yield replace(step, holds=self._held(name))

    def _after_forgetting(
        self, talos: tuple[Step, ...], forgotten: tuple[Step, ...]
    ) -> tuple[Step, ...]:
        """A machine joins after the Node of its predecessor is gone."""
        removed = {step.node: step.id for step in forgotten}
        return tuple(
            replace(step, needs=(*step.needs, removed[step.node]))
            if step.id == talos_steps.configure_id(step.node) and step.node in removed
            else step
            for step in talos
        )

    def _forgetting(self, forgotten: tuple[Step, ...]) -> Iterator[Change]:
        for step in forgotten:
            yield Change(
                what=f"Node {step.node} of Kubernetes",
                why=step.reason,
                mark=Mark.REMOVE,
                stage=Stage.TALOS,
                node=step.node,
            )

    def _ready(self, joined: list[str], kube_steps: tuple[Step, ...]) -> Iterator[Step]:
        """New nodes are there once Kubernetes says that they are ready."""
        if self.wishes.kubernetes is None:
            return
        last = (kube_steps[-1].id,) if kube_steps else ()
        for name in joined:
            yield Step(
                id=f"nodes/ready/{name}",
                action=Checkpoint(text=f"wait until node {name} is ready"),
                stage=Stage.KUBERNETES,
                reason="it is new, and pods run on nodes that are ready only",
                gates=(node_ready(name),),
                needs=(talos_steps.joined_id(name), *last),
                deadline=1800.0,
                node=name,
                seconds=30.0,
            )

    def _reconciled(self, wish: KubernetesWish, why: str) -> Iterator[KubernetesChange]:
        observed = self.seen.kubernetes
        if observed is not None and self.seen.api_answers:
            yield from kube_stage.reconciling(wish, observed, self.seen.at.isoformat(), why)

    # -- the rest -----------------------------------------------------------------------------

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
            name: ((talos_steps.joined_id(name),) if name in joined else ())
            for name in self._nodes()
            if name in joined or ((one := talos.machine(name)) is not None and one.is_configured)
        }
        return seed_removals(self.desired, self.seen.proxmox, created, configured)

    def _kubernetes(
        self,
        talos: tuple[Step, ...],
        rendered: tuple[tuple[Change, Step], ...],
        *,
        comes_up: bool,
    ) -> tuple[tuple[KubernetesChange, ...], tuple[Step, ...]]:
        wish = self.wishes.kubernetes
        if wish is None or self.problems.errors or not self.seen.beyond_proxmox:
            return (), ()
        observed = self.seen.kubernetes if self.seen.api_answers else None
        if observed is None and not comes_up:
            self.problems.add(say.api_silent())
        try:
            changes = kube_stage.changes(wish, observed)
        except Refused as no:
            self.problems.add(no.problem)
            return (), ()
        if observed is not None:
            self.problems.extend(foreign(wish, observed))
        before = tuple(step.id for step in talos if _is_before_kubernetes(step))
        needs = (*before, *(step.id for _, step in rendered))
        around = kube_stage.Around(needs=needs, push=self.wishes.push)
        if not changes and self.wishes.push and (rendered or self.wishes.unpushed):
            why = self.wishes.unpushed or "files are rendered by this plan"
            followed = (kube_stage.pushing(wish, why), *self._reconciled(wish, "it was pushed"))
            return followed, kube_stage.steps(followed, wish, replace(around, push=False))
        if self.wishes.reconcile:
            changes = (*changes, *self._reconciled(wish, "it was asked for"))
        return changes, kube_stage.steps(changes, wish, around)


def _is_before_kubernetes(step: Step) -> bool:
    """What the first step of the Kubernetes stage waits for."""
    return step.id.startswith(
        ("talos/joined/", "talos/etcd-healthy", "talos/shared-address", "talos/client-file/")
    )


def _is_young(guest: GuestSeen) -> bool:
    """Whether it was started so lately that nobody need worry about its silence."""
    return guest.status == "running" and guest.uptime is not None and guest.uptime < _BOOTS


def _ids(drains: Mapping[str, tuple[Step, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(step.id for step in found) for name, found in drains.items()}
