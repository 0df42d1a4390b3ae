"""Records of a node: VM, machine and kubelet."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from stockman.assessment.status import problems as say
from stockman.assessment.status.findings import (
    HIDDEN,
    Health,
    StatusFinding,
    as_warning,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.problems import wrong_version
from stockman.model.desired import Node, Vm
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.version import Version
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.kubernetes import ObservedNode
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.observed.talos import ObservedMachine
from stockman.proxmox.cluster import GuestSummary
from stockman.steps.talos.gates import ALLOWED_SKEW
from stockman.steps.talos.machine import MachineState
from stockman.talos.nocloud.seed import provider_id
from stockman.talos.records.machines import MachineStatus


@record
class VmLink:
    """The VM of a node."""

    health: Health
    summary: str
    """For example `running on pve1`."""
    region: str = ""
    host: str = ""
    """The host that runs it. Empty: unknown."""
    desired_host: str = ""
    vmid: int = 0
    uuid: UUID | None = None
    """None: unknown."""
    macs: tuple[str, ...] = ()
    """MAC addresses of its network cards in their order."""
    runs: bool | None = None
    """None: unknown."""


@record
class MachineLink:
    """The Talos machine of a node."""

    health: Health
    summary: str
    """For example `running` or `no answer`."""
    version: str = ""
    """For example `v1.13.9`. Empty: unknown."""
    uuid: UUID | None = None
    """None: unknown."""
    macs: tuple[str, ...] = ()
    """MAC addresses of its network cards. Empty: unknown."""
    same: bool | None = None
    """Whether it is the machine of that VM. None: unknown."""
    skew: float | None = None
    """Seconds that its clock is ahead. None: unknown."""
    answers: bool = False
    """Whether a configured machine of this cluster answers."""


@record
class KubeletLink:
    """The Kubernetes node of a node."""

    health: Health
    summary: str
    """`ready` or `not ready`."""
    version: str = ""
    """For example `v1.36.3`. Empty: unknown."""
    ready: bool | None = None
    """None: unknown."""
    region: str = ""
    zone: str = ""
    provider_id: str = ""
    created: datetime | None = None
    """None: unknown."""


@record
class NodeStatus:
    """Status of one node."""

    name: str
    role: str
    address: str
    vm: VmLink | None
    """None: stockman does not manage the machine's VM."""
    machine: MachineLink
    kubelet: KubeletLink
    etcd: str = ""
    """`leader`, `voter`, `learner`, `missing`, `unhealthy`, `unknown`. Empty: it is a worker."""

    @property
    def health(self) -> Health:
        links = [self.machine.health, self.kubelet.health]
        if self.vm is not None:
            links.append(self.vm.health)
        if self.etcd:
            links.append(_ETCD.get(self.etcd, Health.ERROR))
        return worst_health(links)


_ETCD = {
    "leader": Health.OK,
    "voter": Health.OK,
    "learner": Health.WARNING,
    "unknown": Health.UNKNOWN,
}


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
    if guest.is_halted:
        problem = say.vm_halted(name, vmid, host, guest.qmp_status)
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


MachineResult = tuple[MachineLink, tuple[StatusFinding, ...]]
_NODE_READY = "nodeReady"
_AGAIN = "look again with `stockman status`"


def assess_machine(node: Node, state: StatusInput) -> MachineResult:
    """Return the machine of a node and its problems."""
    observed = state.talos.machine(str(node.name)) if state.talos is not None else None
    if observed is None:
        return MachineLink(health=Health.UNKNOWN, summary="not known"), ()
    if observed.is_configured:
        return _configuration_findings(node, state, observed)
    name, address = str(node.name), str(observed.address)
    match observed.standing:
        case MachineState.MAINTENANCE:
            problem, text = say.in_maintenance(name, address), "maintenance"
        case MachineState.FOREIGN:
            problem, text = say.foreign_machine(name, address, observed.why), "another cluster"
        case MachineState.BOOTING:
            problem, text = say.machine_booting(name, address, observed.why), "booting"
        case _:
            problem, text = say.machine_silent(name, address, observed.why), "no answer"
    link = MachineLink(
        health=Health.ERROR, summary=text, version=observed.version or "", uuid=observed.uuid
    )
    return link, (StatusFinding(subject=name, problem=problem),)


def _configuration_findings(
    node: Node, state: StatusInput, observed: ObservedMachine
) -> MachineResult:
    desired = node.vm.uuid if node.vm is not None else None
    same = None if observed.uuid is None or desired is None else observed.uuid == desired
    findings = tuple(_identity_findings(node, state, observed, same))
    link = MachineLink(
        health=worst_health(finding.health for finding in findings),
        summary=observed.status.stage if observed.status is not None else "stage not known",
        version=observed.version or "",
        uuid=observed.uuid,
        macs=tuple(str(mac) for mac in observed.macs or ()),
        same=same,
        skew=observed.skew,
        answers=same is not False,
    )
    return link, findings


def _identity_findings(
    node: Node, state: StatusInput, observed: ObservedMachine, same: bool | None
) -> Iterator[StatusFinding]:
    name = str(node.name)
    if same is False and node.vm is not None:
        problem = say.wrong_uuid(name, str(observed.address), str(observed.uuid), str(node.vm.uuid))
        yield StatusFinding(subject=name, problem=problem)
        return
    if same is None and node.vm is not None:
        why = observed.unknown.get("uuid", "it did not tell its UUID")
        yield unknown_finding(f"the identity of {name}", why, _AGAIN)
    if observed.macs is not None and node.mac_addr.lower() not in map(str.lower, observed.macs):
        cards = ", ".join(str(mac) for mac in observed.macs) or "none"
        problem = say.wrong_card(name, str(observed.address), cards, str(node.mac_addr))
        yield StatusFinding(subject=name, problem=as_warning(problem))
    if observed.status is None:
        yield unknown_finding(
            f"the stage of {name}", observed.unknown.get("status", "not told"), _AGAIN
        )
    elif not observed.status.is_up:
        yield from _not_ready(name, observed.status, state)
    if observed.skew is not None and abs(observed.skew) > ALLOWED_SKEW:
        problem = say.clock_skew(name, observed.skew, ALLOWED_SKEW, observed.time_server)
        yield StatusFinding(subject=name, problem=problem)
    elif observed.skew is None:
        why = observed.unknown.get("clock", "it did not tell")
        yield unknown_finding(f"the clock of {name}", why, _AGAIN, is_error=False)
    cluster = state.desired.cluster
    if cluster is None or observed.version is None:
        return
    if Version.parse(observed.version) != cluster.talos.version:
        problem = say.wrong_version(name, "Talos", observed.version, cluster.talos.version.tagged)
        yield StatusFinding(subject=name, problem=as_warning(problem))


def _not_ready(name: str, status: MachineStatus, state: StatusInput) -> Iterator[StatusFinding]:
    """Report unmet conditions of a machine, except the readiness of its node."""
    lacks = [
        condition
        for condition in status.unmet
        if condition.name != _NODE_READY or state.kubernetes is None
    ]
    if lacks or not status.unmet:
        unmet = "; ".join(f"{condition.name}: {condition.reason}" for condition in lacks)
        yield StatusFinding(
            subject=name,
            problem=say.machine_not_ready(name, state.address_of(name), status.stage, unmet),
        )


TALOS = "talos-cloud-controller-manager"
PROXMOX = "proxmox-cloud-controller-manager"
_COMPONENTS = {TALOS: "talos-ccm", PROXMOX: "proxmox-ccm"}
_MANY = 3
_LONG = 600


def assess_topology(
    node: Node, observed: ObservedNode, state: StatusInput
) -> Iterator[StatusFinding]:
    """Report a node that waits for a cloud controller or has wrong topology labels."""
    name = observed.name
    if observed.is_uninitialized:
        yield StatusFinding(subject=name, problem=_cloud_controller_finding(observed, state))
        return
    if node.vm is None:
        return
    if observed.provider_id and observed.provider_id != provider_id(node.vm):
        wrong = say.wrong_provider_id(
            name, state.address_of(name), observed.provider_id, provider_id(node.vm)
        )
        yield StatusFinding(subject=name, problem=wrong)
    region, hosts = str(node.vm.region), {str(node.vm.host)}
    proxmox = state.proxmox(region)
    guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
    if guest is not None:
        hosts.add(str(guest.host))
    if _is_wrong(observed.region, {region}, state):
        wrong = say.wrong_topology(name, "region", observed.region, region)
        yield StatusFinding(subject=name, problem=wrong)
    if _is_wrong(observed.zone, hosts, state):
        where = str(guest.host) if guest is not None else str(node.vm.host)
        yield StatusFinding(
            subject=name, problem=say.wrong_topology(name, "zone", observed.zone, where)
        )


def _is_wrong(label: str, desired: set[str], state: StatusInput) -> bool:
    """A missing label is wrong only if a cloud controller should have set it."""
    return label not in desired if label else _has_controller(state)


def _has_controller(state: StatusInput) -> bool:
    return any(state.components.get(component) for component in _COMPONENTS.values())


def _cloud_controller_finding(observed: ObservedNode, state: StatusInput) -> Problem:
    running = [controller for controller in (PROXMOX, TALOS) if controller in _controllers(state)]
    if not running:
        return say.nobody_initializes(observed.name)
    how_long = ""
    if observed.created is not None:
        how_long = f" since {_duration(state.at - observed.created)}"
    return say.awaits_cloud_controller(observed.name, how_long, running[0])


def _duration(length: timedelta) -> str:
    seconds = max(int(length.total_seconds()), 0)
    return f"{seconds} s" if seconds < _LONG else f"{seconds // 60} minutes"


def _controllers(state: StatusInput) -> set[str]:
    return {name for _, name in state.workloads} & set(_COMPONENTS)


def assess_controllers(state: StatusInput) -> Iterator[StatusFinding]:
    """Report two cloud controllers that manage the same nodes."""
    for why in _fight(state):
        yield StatusFinding(subject="cloud controllers", problem=say.two_controllers(why))
        return


def _fight(state: StatusInput) -> Iterator[str]:
    schemes: dict[str, str] = {}
    for node in state.nodes.values():
        if node.provider_id:
            schemes.setdefault(node.provider_id.partition("://")[0], node.name)
    if len(schemes) > 1:
        description = ", ".join(
            f"{scheme}:// on {name}" for scheme, name in sorted(schemes.items())
        )
        yield f"nodes have identities of different kinds: {description}"
    both = [node.name for node in state.nodes.values() if {TALOS, PROXMOX} <= set(node.managers)]
    if both:
        more = f" and {len(both) - _MANY} more" if len(both) > _MANY else ""
        yield f"{TALOS} and {PROXMOX} both wrote to {', '.join(both[:_MANY])}{more}"
    running = _controllers(state)
    unwanted = [
        controller
        for controller in sorted(running)
        if state.components.get(_COMPONENTS[controller]) is False
    ]
    if len(running) > 1 and unwanted:
        yield f"both run, and {_COMPONENTS[unwanted[0]]} is off in cluster.yaml"


KubeletResult = tuple[KubeletLink, tuple[StatusFinding, ...]]


def assess_kubelet(node: Node, state: StatusInput) -> KubeletResult:
    """Return the Kubernetes node of a node and its problems."""
    name = str(node.name)
    kubernetes = state.kubernetes
    if kubernetes is None or kubernetes.nodes is None:
        return KubeletLink(health=Health.UNKNOWN, summary="not known"), ()
    observed = state.nodes.get(name)
    if observed is None:
        finding = StatusFinding(
            subject=name, problem=say.node_missing(name, state.address_of(name))
        )
        return KubeletLink(health=Health.ERROR, summary="missing", ready=False), (finding,)
    findings = (
        *node_condition(observed, state),
        *_version(observed, state),
        *assess_topology(node, observed, state),
    )
    return kubelet_link(observed, findings), findings


def kubelet_link(observed: ObservedNode, findings: tuple[StatusFinding, ...]) -> KubeletLink:
    """Return the link for an observed Kubernetes node."""
    parts_of_text = ["ready" if observed.is_ready else "not ready"]
    if observed.unschedulable:
        parts_of_text.append("cordoned")
    if observed.is_uninitialized:
        parts_of_text.append("uninitialized")
    return KubeletLink(
        health=worst_health(finding.health for finding in findings),
        summary=", ".join(parts_of_text),
        version=observed.kubelet,
        ready=observed.is_ready,
        region=observed.region,
        zone=observed.zone,
        provider_id=observed.provider_id,
        created=observed.created,
    )


def node_condition(observed: ObservedNode, state: StatusInput) -> Iterator[StatusFinding]:
    """Report problems of the Kubernetes node itself."""
    name = observed.name
    if not observed.is_ready:
        yield StatusFinding(subject=name, problem=say.node_not_ready(name, observed.why))
    held = state.runs.cordoned if state.runs is not None else frozenset()
    if observed.unschedulable and name not in held:
        yield StatusFinding(subject=name, problem=as_warning(say.cordon(name)))
    for pressure in observed.pressures:
        yield StatusFinding(subject=name, problem=say.node_pressure(name, pressure))


def _version(observed: ObservedNode, state: StatusInput) -> Iterator[StatusFinding]:
    cluster = state.desired.cluster
    if cluster is None or not observed.kubelet:
        return
    desired = cluster.kubernetes.version
    if Version.parse(observed.kubelet) != desired:
        problem = wrong_version(observed.name, "kubelet", observed.kubelet, desired.tagged)
        yield StatusFinding(subject=observed.name, problem=as_warning(problem))
