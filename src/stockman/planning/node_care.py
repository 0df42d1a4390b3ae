"""Nodes are spared: emptied before they are restarted or leave, and held until it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.planning import composition_problems as say
from stockman.planning import talos_steps
from stockman.planning.kube_nodes import Leaving, cordon, drain
from stockman.planning.observed import Observed
from stockman.planning.talos_changes import Leave, Reconfigure, Rejoin, TalosChange
from stockman.planning.talos_step_names import ETCD_LANE, REBOOT_LANE
from stockman.planning.talos_wish import machine_of
from stockman.planning.vm_moving import carried_id
from stockman.steps.base import Gate, Hold
from stockman.steps.etcd_gates import EtcdQuorum
from stockman.steps.step import Stage, Step
from stockman.steps.talos_absent import VmPlace
from stockman.steps.talos_machine import TalosMachine


class NodeCare:
    """What is done for the nodes of a cluster before something is done to them."""

    def __init__(self, desired: Desired, seen: Observed, problems: Problems) -> None:
        self.desired = desired
        self.seen = seen
        self.problems = problems

    def drains(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Step, ...]]:
        """Steps that empty nodes, by node."""
        found: dict[str, tuple[Step, ...]] = {}
        reasons = dict.fromkeys(restarted, "its VM is restarted")
        for one in machines:
            if isinstance(one, Leave):
                reasons[one.node] = one.why
            elif isinstance(one, Reconfigure) and one.boot_id:
                reasons[one.node] = "it is booted again"
            elif isinstance(one, Rejoin):
                reasons[one.node] = "it joins etcd anew"
        for name, why in reasons.items():
            node = self.seen.node(name)
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

    def holds(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Hold, ...]]:
        """What is held while machines leave or are booted again, by node."""
        names = {one.node for one in machines if isinstance(one, Leave | Reconfigure | Rejoin)}
        found: dict[str, tuple[Hold, ...]] = {}
        for name in (*names, *restarted):
            if held := self.held(name):
                found[name] = held
        return found

    def held(self, name: str) -> tuple[Hold, ...]:
        """Nothing new is put on a node that leaves, until Kubernetes forgets it."""
        node = self.seen.node(name)
        return (cordon(node),) if node is not None and node.is_ready else ()

    def down(self, vms: Mapping[str, Step], name: str) -> tuple[Step, ...]:
        """Steps that switch the VM of a node off and on."""
        ids = (carried_id(name), f"vms/restart/{name}")
        return tuple(vms[one] for one in ids if one in vms)

    def order(
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
                    held = self.held(name) if step_id.startswith("vms/destroy/") else ()
                    vms[step_id] = replace(step, needs=(*step.needs, *before), holds=held)
        for name in restarted:
            for step in self.down(vms, name):
                vms[step.id] = self._careful(step, name, drains.get(name, ()))

    def _careful(self, step: Step, name: str, drained: tuple[Step, ...]) -> Step:
        node = next(one for one in self.desired.nodes if str(one.name) == name)
        held = self.seen.node(name)
        quorum: tuple[Gate, ...] = ()
        if node.is_controller:
            vm = node.vm
            place = VmPlace(cluster=str(vm.region), vmid=vm.vmid) if vm is not None else None
            quorum = (EtcdQuorum(controllers=self._controllers(), node=name, vm=place),)
        lane = (ETCD_LANE,) if node.is_controller else ()
        return replace(
            step,
            gates=(*step.gates, *quorum),
            holds=(cordon(held),) if held is not None and held.is_ready else (),
            needs=(*step.needs, *(one.id for one in drained)),
            lanes=(*step.lanes, REBOOT_LANE, *lane),
            deadline=max(step.deadline, 1800.0),
        )

    def _controllers(self) -> tuple[TalosMachine, ...]:
        return tuple(machine_of(node) for node in self.desired.nodes if node.is_controller)
