"""Third link of a node: its Kubernetes node, and the cloud controllers that label it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from stockman.assessment.status import cluster_problems as say
from stockman.assessment.status.findings import Health, StatusFinding, as_warning, worst_health
from stockman.assessment.status.machine_problems import wrong_version
from stockman.assessment.status.node_links import KubeletLink
from stockman.assessment.status.observed import StatusInput
from stockman.model.desired import Node
from stockman.model.problem import Problem
from stockman.model.version import Version
from stockman.planning.observed.kubernetes import ObservedNode
from stockman.talos.nocloud.seed import provider_id

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
