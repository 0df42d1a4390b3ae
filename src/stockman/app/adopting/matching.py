"""Which VM a machine runs in, and which Node it is."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.adopting import problems as trouble
from stockman.app.adopting.sight import Matched, SeenMachine, Sight
from stockman.model.problem import Problems
from stockman.planning.fact import Unknown
from stockman.planning.observed_kubernetes import SeenNode
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.vm_checks import macs_of
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig

_Vm = tuple[GuestSeen, VmConfig]


def matched(sight: Sight, problems: Problems) -> tuple[Matched, ...]:
    """Every machine with its VM and Node; those that have none are told as problems."""
    found: list[Matched] = []
    for machine in sight.machines:
        vm = _vm_of(machine, sight.proxmox, problems)
        if vm is None:
            continue
        guest, config = vm
        if config.name != machine.hostname:
            problems.add(trouble.vm_name(called(guest, config), guest.vmid, machine.hostname))
        node = _node_of(machine, sight.kubernetes.nodes or ())
        found.append(Matched(machine=machine, guest=guest, config=config, node=node))
    _check_once(found, problems)
    return tuple(found)


def called(guest: GuestSeen, config: VmConfig | None = None) -> str:
    """A guest for people."""
    name = (config.name if config is not None else "") or guest.name or "no name"
    return f"{'VM' if guest.kind == 'qemu' else 'container'} {guest.vmid} ({name})"


def _vm_of(machine: SeenMachine, seen: ObservedProxmox, problems: Problems) -> _Vm | None:
    """By UUID; by its cards where no VM has that UUID."""
    vms = list(_vms(seen))
    by_uuid = [one for one in vms if one[1].uuid == machine.uuid]
    by_card = [one for one in vms if set(macs_of(one[1])) & set(machine.macs)]
    for found, why in ((by_uuid, f"UUID {machine.uuid}"), (by_card, "a card of it")):
        if len(found) > 1:
            names = [called(*one) for one in found]
            problems.add(trouble.vm_twice(machine.hostname, why, names))
            return None
        if found:
            return found[0]
    _tell_unseen(seen, problems)
    problems.add(trouble.no_vm(machine.hostname, str(machine.uuid), machine.macs))
    return None


def _vms(seen: ObservedProxmox) -> Iterator[_Vm]:
    for guest in seen.guests():
        config = seen.config(guest.vmid)
        if config is not None and guest.kind == "qemu" and not guest.is_template:
            yield guest, config


def _tell_unseen(seen: ObservedProxmox, problems: Problems) -> None:
    known = {one.where for one in problems}
    for guest in seen.guests():
        fact = seen.configs.get(guest.vmid)
        if isinstance(fact, Unknown) and called(guest) not in known:
            why = f"{fact.problem.what}: {fact.problem.why}"
            problems.add(trouble.hidden_configuration(called(guest), why))


def _node_of(machine: SeenMachine, nodes: tuple[SeenNode, ...]) -> SeenNode | None:
    by_name = (one for one in nodes if one.name == machine.hostname)
    by_address = (one for one in nodes if str(machine.address) in one.addresses)
    return next(by_name, None) or next(by_address, None)


def _check_once(found: list[Matched], problems: Problems) -> None:
    by_vm: dict[int, list[Matched]] = {}
    for one in found:
        by_vm.setdefault(one.guest.vmid, []).append(one)
    for several in by_vm.values():
        if len(several) > 1:
            vm = called(several[0].guest, several[0].config)
            problems.add(trouble.machine_twice(vm, [one.machine.hostname for one in several]))
