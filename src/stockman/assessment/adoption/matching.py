"""Which VM a machine runs in, and which Node it is."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.cluster import MatchedMachine, RunningCluster, RunningMachine
from stockman.model.problem import Problems
from stockman.planning.fact import Unknown
from stockman.planning.observed.kubernetes import ObservedNode
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.checks import guest_macs
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig

_Vm = tuple[GuestSummary, VmConfig]


def match_machines(sight: RunningCluster, problems: Problems) -> tuple[MatchedMachine, ...]:
    """Every machine with its VM and Node; those that have none are told as problems."""
    found: list[MatchedMachine] = []
    for machine in sight.machines:
        vm = _vm_of(machine, sight.proxmox, problems)
        if vm is None:
            continue
        guest, config = vm
        if config.name != machine.hostname:
            problems.add(trouble.vm_name(guest_label(guest, config), guest.vmid, machine.hostname))
        node = _node_of(machine, sight.kubernetes.nodes or ())
        found.append(MatchedMachine(machine=machine, guest=guest, config=config, node=node))
    _check_once(found, problems)
    return tuple(found)


def guest_label(guest: GuestSummary, config: VmConfig | None = None) -> str:
    """A guest for people."""
    name = (config.name if config is not None else "") or guest.name or "no name"
    return f"{'VM' if guest.kind == 'qemu' else 'container'} {guest.vmid} ({name})"


def _vm_of(machine: RunningMachine, seen: ObservedProxmox, problems: Problems) -> _Vm | None:
    """By UUID; by its cards where no VM has that UUID."""
    vms = list(_list_vms(seen))
    by_uuid = [one for one in vms if one[1].uuid == machine.uuid]
    by_card = [one for one in vms if set(guest_macs(one[1])) & set(machine.macs)]
    for found, why in ((by_uuid, f"UUID {machine.uuid}"), (by_card, "a card of it")):
        if len(found) > 1:
            names = [guest_label(*one) for one in found]
            problems.add(trouble.vm_twice(machine.hostname, why, names))
            return None
        if found:
            return found[0]
    _warn_hidden_vms(seen, problems)
    problems.add(trouble.no_vm(machine.hostname, str(machine.uuid), machine.macs))
    return None


def _list_vms(seen: ObservedProxmox) -> Iterator[_Vm]:
    for guest in seen.guests():
        config = seen.config(guest.vmid)
        if config is not None and guest.kind == "qemu" and not guest.is_template:
            yield guest, config


def _warn_hidden_vms(seen: ObservedProxmox, problems: Problems) -> None:
    known = {one.where for one in problems}
    for guest in seen.guests():
        fact = seen.configs.get(guest.vmid)
        if isinstance(fact, Unknown) and guest_label(guest) not in known:
            why = f"{fact.problem.what}: {fact.problem.why}"
            problems.add(trouble.vm_unreadable(guest_label(guest), why))


def _node_of(machine: RunningMachine, nodes: tuple[ObservedNode, ...]) -> ObservedNode | None:
    by_name = (one for one in nodes if one.name == machine.hostname)
    by_address = (one for one in nodes if str(machine.address) in one.addresses)
    return next(by_name, None) or next(by_address, None)


def _check_once(found: list[MatchedMachine], problems: Problems) -> None:
    by_vm: dict[int, list[MatchedMachine]] = {}
    for one in found:
        by_vm.setdefault(one.guest.vmid, []).append(one)
    for several in by_vm.values():
        if len(several) > 1:
            vm = guest_label(several[0].guest, several[0].config)
            problems.add(trouble.machine_twice(vm, [one.machine.hostname for one in several]))
