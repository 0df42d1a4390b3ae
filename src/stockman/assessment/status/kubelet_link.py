"""Where nodes say that they are, and who told them: cloud controllers."""

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


def assess_topology(node: Node, found: ObservedNode, seen: StatusInput) -> Iterator[StatusFinding]:
    """Whether a node waits for a cloud controller, or was told something wrong by one."""
    name = found.name
    if found.is_uninitialized:
        yield StatusFinding(subject=name, problem=_uninitialized_finding(found, seen))
        return
    if node.vm is None:
        return
    if found.provider_id and found.provider_id != provider_id(node.vm):
        wrong = say.wrong_provider_id(
            name, seen.address_of(name), found.provider_id, provider_id(node.vm)
        )
        yield StatusFinding(subject=name, problem=wrong)
    region, hosts = str(node.vm.region), {str(node.vm.host)}
    proxmox = seen.proxmox(region)
    guest = proxmox.guest(node.vm.vmid) if proxmox is not None else None
    if guest is not None:
        hosts.add(str(guest.host))
    if _is_wrong(found.region, {region}, seen):
        wrong = say.wrong_topology(name, "region", found.region, region)
        yield StatusFinding(subject=name, problem=wrong)
    if _is_wrong(found.zone, hosts, seen):
        where = str(guest.host) if guest is not None else str(node.vm.host)
        yield StatusFinding(
            subject=name, problem=say.wrong_topology(name, "zone", found.zone, where)
        )


def _is_wrong(label: str, wanted: set[str], seen: StatusInput) -> bool:
    """A label that is missing is wrong only where somebody should have set it."""
    return label not in wanted if label else _has_controller(seen)


def _has_controller(seen: StatusInput) -> bool:
    return any(seen.components.get(one) for one in _COMPONENTS.values())


def _uninitialized_finding(found: ObservedNode, seen: StatusInput) -> Problem:
    running = [one for one in (PROXMOX, TALOS) if one in _controllers(seen)]
    if not running:
        return say.nobody_initializes(found.name)
    how_long = ""
    if found.created is not None:
        how_long = f" since {_duration(seen.at - found.created)}"
    return say.uninitialized(found.name, how_long, running[0])


def _duration(length: timedelta) -> str:
    seconds = max(int(length.total_seconds()), 0)
    return f"{seconds} s" if seconds < _LONG else f"{seconds // 60} minutes"


def _controllers(seen: StatusInput) -> set[str]:
    return {name for _, name in seen.workloads} & set(_COMPONENTS)


def assess_controllers(seen: StatusInput) -> Iterator[StatusFinding]:
    """Whether two cloud controllers work on the same nodes."""
    for why in _fight(seen):
        yield StatusFinding(subject="cloud controllers", problem=say.two_controllers(why))
        return


def _fight(seen: StatusInput) -> Iterator[str]:
    schemes: dict[str, str] = {}
    for node in seen.nodes.values():
        if node.provider_id:
            schemes.setdefault(node.provider_id.partition("://")[0], node.name)
    if len(schemes) > 1:
        told = ", ".join(f"{scheme}:// on {name}" for scheme, name in sorted(schemes.items()))
        yield f"nodes have identities of different kinds: {told}"
    both = [one.name for one in seen.nodes.values() if {TALOS, PROXMOX} <= set(one.managers)]
    if both:
        more = f" and {len(both) - _MANY} more" if len(both) > _MANY else ""
        yield f"{TALOS} and {PROXMOX} both wrote to {', '.join(both[:_MANY])}{more}"
    running = _controllers(seen)
    unwanted = [one for one in sorted(running) if seen.components.get(_COMPONENTS[one]) is False]
    if len(running) > 1 and unwanted:
        yield f"both run, and {_COMPONENTS[unwanted[0]]} is off in cluster.yaml"


KubeletResult = tuple[KubeletLink, tuple[StatusFinding, ...]]


def assess_kubelet(node: Node, seen: StatusInput) -> KubeletResult:
    """The Node of a node, and what is wrong with it."""
    name = str(node.name)
    kubernetes = seen.kubernetes
    if kubernetes is None or kubernetes.nodes is None:
        return KubeletLink(health=Health.UNKNOWN, seen="not known"), ()
    found = seen.nodes.get(name)
    if found is None:
        finding = StatusFinding(subject=name, problem=say.node_missing(name, seen.address_of(name)))
        return KubeletLink(health=Health.ERROR, seen="missing", ready=False), (finding,)
    findings = (
        *node_condition(found, seen),
        *_version(found, seen),
        *assess_topology(node, found, seen),
    )
    return kubelet_link(found, findings), findings


def kubelet_link(found: ObservedNode, findings: tuple[StatusFinding, ...]) -> KubeletLink:
    """A Node as it was seen."""
    words = ["ready" if found.is_ready else "not ready"]
    if found.unschedulable:
        words.append("cordoned")
    if found.is_uninitialized:
        words.append("uninitialized")
    return KubeletLink(
        health=worst_health(one.health for one in findings),
        seen=", ".join(words),
        version=found.kubelet,
        ready=found.is_ready,
        region=found.region,
        zone=found.zone,
        provider_id=found.provider_id,
        created=found.created,
    )


def node_condition(found: ObservedNode, seen: StatusInput) -> Iterator[StatusFinding]:
    """What is wrong with a Node itself."""
    name = found.name
    if not found.is_ready:
        yield StatusFinding(subject=name, problem=say.node_not_ready(name, found.why))
    held = seen.runs.cordoned if seen.runs is not None else frozenset()
    if found.unschedulable and name not in held:
        yield StatusFinding(subject=name, problem=as_warning(say.node_cordoned(name)))
    for one in found.pressures:
        yield StatusFinding(subject=name, problem=say.node_pressure(name, one))


def _version(found: ObservedNode, seen: StatusInput) -> Iterator[StatusFinding]:
    cluster = seen.desired.cluster
    if cluster is None or not found.kubelet:
        return
    wanted = cluster.kubernetes.version
    if Version.parse(found.kubelet) != wanted:
        problem = wrong_version(found.name, "kubelet", found.kubelet, wanted.tagged)
        yield StatusFinding(subject=found.name, problem=as_warning(problem))
