"""The first link of a node: its VM, by number, name and UUID."""

from __future__ import annotations

from stockman.assessment.status import proxmox_problems as say
from stockman.assessment.status.findings import (
    HIDDEN,
    Health,
    StatusFinding,
    as_warning,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.node_links import VmLink
from stockman.assessment.status.observed import StatusInput
from stockman.model.desired import Node, Vm
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.proxmox.cluster import GuestSummary

_RUNNING = "running"


def assess_vm(node: Node, vm: Vm, seen: StatusInput) -> tuple[VmLink, tuple[StatusFinding, ...]]:
    """The VM of a node, and what is wrong with it."""
    name, region = str(node.name), str(vm.region)
    found = seen.proxmox(region)
    guest = found.guest(vm.vmid) if found is not None else None
    if found is None or not isinstance(found.resources, Fact):
        return _link(vm, Health.UNKNOWN, "not known"), ()
    if guest is None and not found.shows_guests:
        return _link(vm, Health.UNKNOWN, "not shown"), (
            unknown_finding(f"the VM of {name}", *HIDDEN),
        )
    if guest is None:
        finding = StatusFinding(subject=name, problem=say.vm_missing(name, int(vm.vmid), region))
        return _link(vm, Health.ERROR, "missing", runs=False), (finding,)
    if (region, str(guest.host)) in seen.offline:
        return _link(vm, Health.ERROR, f"{guest.host} is offline", guest, runs=False), ()
    return _assess_present_vm(node, vm, guest, found)


def _assess_present_vm(
    node: Node, vm: Vm, guest: GuestSummary, found: ObservedProxmox
) -> tuple[VmLink, tuple[StatusFinding, ...]]:
    name, vmid, host = str(node.name), int(vm.vmid), str(guest.host)
    config = found.configs.get(vm.vmid)
    findings: list[StatusFinding] = []
    if isinstance(config, Fact):
        if found.is_new(vm.vmid):
            return _link(vm, Health.ERROR, "not made yet", guest, runs=False), (
                _reserved_vmid(node, guest),
            )
        same = (config.value.name, config.value.uuid) == (vm.name, vm.uuid)
        if not same:
            problem = say.vm_identity(name, vmid, host, config.value.name, config.value.uuid)
            if config.value.uuid == vm.uuid:
                problem = say.vm_renamed(name, vmid, host, config.value.name)
            link = _link(vm, Health.ERROR, "another guest", guest, runs=False)
            return link, (StatusFinding(subject=name, problem=problem),)
    else:
        why = config.problem.why if isinstance(config, Unknown) else "it was not read"
        fix = "look again with `stockman status`; its configuration has to be readable"
        findings.append(unknown_finding(f"the VM of {name}", why, fix))
    if guest.status == "unknown":
        why = f"Proxmox VE says nothing of VM {vmid} on {host}"
        findings.append(
            unknown_finding(f"the VM of {name}", why, "look again with `stockman status`")
        )
    elif guest.status != _RUNNING:
        problem = say.vm_stopped(name, vmid, host, guest.status)
        findings.append(StatusFinding(subject=name, problem=problem))
    if host != str(vm.host):
        problem = as_warning(say.vm_elsewhere(name, vmid, host, str(vm.host)))
        findings.append(StatusFinding(subject=name, problem=problem))
    for twin in _twins(found, guest):
        problem = say.vm_twice(name, vmid, int(twin.vmid), str(twin.host))
        findings.append(StatusFinding(subject=name, problem=problem))
    if guest.lock:
        problem = as_warning(say.vm_locked(name, vmid, host, guest.lock))
        findings.append(StatusFinding(subject=name, problem=problem))
    runs = None if guest.status == "unknown" else guest.status == _RUNNING
    health = worst_health(one.health for one in findings)
    return _link(vm, health, f"{guest.status} on {host}", guest, runs=runs), tuple(findings)


def _reserved_vmid(node: Node, guest: GuestSummary) -> StatusFinding:
    """A number that is taken for the VM, and has nothing in it yet: somebody makes it, or did."""
    name, vmid, host = str(node.name), int(guest.vmid), str(guest.host)
    if guest.lock:
        return StatusFinding(subject=name, problem=say.vm_locked(name, vmid, host, guest.lock))
    return StatusFinding(subject=name, problem=say.vm_not_created(name, vmid, host))


def _twins(found: ObservedProxmox, guest: GuestSummary) -> list[GuestSummary]:
    """VMs of the same name that run beside it, such as one that it came in the place of."""
    return [
        one
        for one in found.guests()
        if (one.kind, one.name, one.status) == (guest.kind, guest.name, _RUNNING)
        and one.vmid != guest.vmid
    ]


def _link(
    vm: Vm,
    health: Health,
    text: str,
    guest: GuestSummary | None = None,
    *,
    runs: bool | None = None,
) -> VmLink:
    return VmLink(
        health=health,
        seen=text,
        region=str(vm.region),
        host=str(guest.host) if guest is not None else "",
        wanted_host=str(vm.host),
        vmid=int(vm.vmid),
        uuid=vm.uuid,
        macs=tuple(str(one.mac_addr) for one in vm.nics if one.mac_addr is not None),
        runs=runs,
    )
