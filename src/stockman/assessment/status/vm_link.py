"""First link of a node: its VM, identified by VMID, name and UUID."""

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


def assess_vm(node: Node, vm: Vm, state: StatusInput) -> tuple[VmLink, tuple[StatusFinding, ...]]:
    """Return the VM of a node and its problems."""
    name, region = str(node.name), str(vm.region)
    observed = state.proxmox(region)
    guest = observed.guest(vm.vmid) if observed is not None else None
    if observed is None or not isinstance(observed.resources, Fact):
        return _link(vm, Health.UNKNOWN, "not known"), ()
    if guest is None and not observed.shows_guests:
        return _link(vm, Health.UNKNOWN, "not shown"), (
            unknown_finding(f"the VM of {name}", *HIDDEN),
        )
    if guest is None:
        finding = StatusFinding(subject=name, problem=say.vm_missing(name, int(vm.vmid), region))
        return _link(vm, Health.ERROR, "missing", runs=False), (finding,)
    if (region, str(guest.host)) in state.offline:
        return _link(vm, Health.ERROR, f"{guest.host} is offline", guest, runs=False), ()
    return _assess_present_vm(node, vm, guest, observed)


def _assess_present_vm(
    node: Node, vm: Vm, guest: GuestSummary, observed: ObservedProxmox
) -> tuple[VmLink, tuple[StatusFinding, ...]]:
    name, vmid, host = str(node.name), int(vm.vmid), str(guest.host)
    config = observed.configs.get(vm.vmid)
    findings: list[StatusFinding] = []
    if isinstance(config, Fact):
        if observed.is_new(vm.vmid):
            return _link(vm, Health.ERROR, "not made yet", guest, runs=False), (
                _empty_vmid(node, guest),
            )
        same = (config.value.name, config.value.uuid) == (vm.name, vm.uuid)
        if not same:
            problem = say.vm_identity(name, vmid, host, config.value.name, config.value.uuid)
            if config.value.uuid == vm.uuid:
                problem = say.vm_name_differs(name, vmid, host, config.value.name)
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
    for twin in _twins(observed, guest):
        problem = say.vm_twice(name, vmid, int(twin.vmid), str(twin.host))
        findings.append(StatusFinding(subject=name, problem=problem))
    if guest.lock:
        problem = as_warning(say.vm_locked(name, vmid, host, guest.lock))
        findings.append(StatusFinding(subject=name, problem=problem))
    runs = None if guest.status == "unknown" else guest.status == _RUNNING
    health = worst_health(finding.health for finding in findings)
    return _link(vm, health, f"{guest.status} on {host}", guest, runs=runs), tuple(findings)


def _empty_vmid(node: Node, guest: GuestSummary) -> StatusFinding:
    """Report a VMID that is reserved but empty: creation is in progress or was interrupted."""
    name, vmid, host = str(node.name), int(guest.vmid), str(guest.host)
    if guest.lock:
        return StatusFinding(subject=name, problem=say.vm_locked(name, vmid, host, guest.lock))
    return StatusFinding(subject=name, problem=say.vm_incomplete(name, vmid, host))


def _twins(observed: ObservedProxmox, guest: GuestSummary) -> list[GuestSummary]:
    """Return running VMs of the same name, such as one that this VM replaced."""
    return [
        twin
        for twin in observed.guests()
        if (twin.kind, twin.name, twin.status) == (guest.kind, guest.name, _RUNNING)
        and twin.vmid != guest.vmid
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
        summary=text,
        region=str(vm.region),
        host=str(guest.host) if guest is not None else "",
        desired_host=str(vm.host),
        vmid=int(vm.vmid),
        uuid=vm.uuid,
        macs=tuple(str(nic.mac_addr) for nic in vm.nics if nic.mac_addr is not None),
        runs=runs,
    )
