"""The health check of a cluster, as a control plane machine runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos import etcd_member
from stockman_lab.talos.api.roles import ADMIN
from stockman_lab.talos.cosi.layout import partitions
from stockman_lab.talos.disk import EPHEMERAL
from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Call
    from stockman_lab.talos.machine import Machine

_MIB = 1 << 20
_MINUTE = 60.0
_MIN_MEMORY = {True: 1848 * _MIB, False: 1024 * _MIB}
"""For control plane machines, and for workers."""
_MIN_EPHEMERAL = (6 * 1024 - 2101 - 100 - 1 - 10) * _MIB
_NOT_ALLOWED = "rpc error: code = PermissionDenied desc = not authorized"
_UNREACHABLE = (
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while'
    ' dialing: dial tcp {}:50000: connect: no route to host"'
)
_NAMESPACE, _LABEL = "kube-system", "k8s-app"


class CheckFailed(Exception):
    """A check does not pass, or not yet."""


class CheckSkipped(Exception):
    """A check does not apply."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The nodes of a health check, and the call that asked for it."""

    call: Call
    controllers: tuple[str, ...]
    """Addresses."""
    workers: tuple[str, ...]

    @property
    def addresses(self) -> tuple[str, ...]:
        return (*self.controllers, *self.workers)

    def machines(self, addresses: Sequence[str]) -> list[Machine]:
        """The machines at addresses, all of which have to answer."""
        machines, errors = [], []
        for address in addresses:
            machine = self.call.land.machine_at(address)
            if machine is None or not machine.is_reachable:
                errors.append(f"{address}: {_UNREACHABLE.format(address)}")
            else:
                machines.append(machine)
        if errors:
            raise CheckFailed(joined_errors(errors))
        return machines


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    run: Callable[[Subject], None]
    interval: float = 5.0
    limit: float = 5 * _MINUTE
    """How long 1.11 and 1.12 try it; newer versions try until the whole check times out."""


def quoted(texts: Sequence[str]) -> str:
    """Texts as Go prints a list of quoted ones: `["a" "b"]`."""
    return "[" + " ".join(f'"{text}"' for text in texts) + "]"


def joined_errors(errors: Sequence[str]) -> str:
    """Errors in the form of Go's multierror."""
    count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    return f"{count} occurred:\n\t* " + "\n\t* ".join(errors) + "\n\n"


def _plain(texts: Sequence[str]) -> str:
    return "[" + " ".join(texts) + "]"


def _etcd_is_healthy(subject: Subject) -> None:
    _service_is_healthy(subject, "etcd")


def _kubelet_is_healthy(subject: Subject) -> None:
    _service_is_healthy(subject, "kubelet")


def _service_is_healthy(subject: Subject, name: str) -> None:
    errors = []
    for machine in subject.machines(subject.controllers):
        service = machine.service(name)
        if service is None or not service.events:
            errors.append(f'{machine.address}: no events recorded yet for service "{name}"')
        elif not service.is_running:
            event = service.events[-1]
            errors.append(
                f'{machine.address}: service "{name}" not in expected state "Running": '
                f"current state [{event.state}] {event.message}"
            )
        elif not service.is_healthy:
            errors.append(f"{machine.address}: service is not healthy: {name}")
    if errors:
        raise CheckFailed(joined_errors(errors))


def _etcd_is_consistent(subject: Subject) -> None:
    members: set[str] | None = None
    for machine in subject.machines(subject.controllers):
        cluster = etcd_member.cluster_of(machine)
        known = set(cluster.members) if cluster is not None else set()
        if members is not None and known != members:
            raise CheckFailed(f"{machine.address}: found unexpected etcd members")
        members = known


def _members_are_controllers(subject: Subject) -> None:
    cluster = etcd_member.cluster_of(subject.call.machine)
    urls = (
        [url for member in cluster.members.values() for url in member.peer_urls] if cluster else []
    )
    members = [url.partition("://")[2].rpartition(":")[0].strip("[]") for url in urls]
    machines = subject.machines(subject.controllers)
    own = [address for machine in machines for address in machine.addresses]
    if not set(members) <= set(own):
        raise CheckFailed(
            f"etcd member ips {quoted(members)} are not subset of "
            f"control plane node ips {quoted(own)}"
        )


def _all_answer(subject: Subject) -> None:
    subject.machines(subject.addresses)


def _memory_is_enough(subject: Subject) -> None:
    errors = []
    for machine in subject.machines(subject.addresses):
        minimum = _MIN_MEMORY[machine.is_controlplane] - 150 * _MIB
        if machine.state.memory < minimum:
            errors.append(
                f'node "{machine.address}" does not meet memory requirements: expected at least '
                f"{minimum // _MIB} MiB, actual {machine.state.memory // _MIB} MiB"
            )
    if errors:
        raise CheckFailed(joined_errors(errors))


def _disks_are_large_enough(subject: Subject) -> None:
    errors = [
        f'ephemeral partition for node "{machine.address}" is too small, '
        f"expected at least {_MIN_EPHEMERAL // _MIB} MiB, actual {partition.size // _MIB} MiB"
        for machine in subject.machines(subject.addresses)
        for partition in partitions(machine)
        if partition.label == EPHEMERAL and partition.size < _MIN_EPHEMERAL
    ]
    if errors:
        raise CheckFailed(joined_errors(errors))


def _boot_is_complete(subject: Subject) -> None:
    stages: dict[str, list[str]] = {}
    for machine in subject.machines(subject.addresses):
        if machine.state.stage is not Stage.RUNNING:
            stages.setdefault(machine.state.stage.value, []).append(machine.address)
    if stages:
        listed = ", ".join(f"{stage}: {_plain(found)}" for stage, found in stages.items())
        raise CheckFailed(f"nodes are not running: {listed}")


def _machines_with_nodes(subject: Subject) -> list[Machine]:
    """Machines that have a Node; needs the rights to a kubeconfig, and an API that answers."""
    call = subject.call
    if ADMIN not in call.roles:
        raise CheckFailed(_NOT_ALLOWED)
    config = call.machine.config
    controllers = call.land.controllers(call.machine)
    if config is None or not any(
        has_static_pods(machine) and machine.runs("etcd") and machine.is_reachable
        for machine in controllers
    ):
        host = config.endpoint.removeprefix("https://") if config is not None else ""
        raise CheckFailed(
            f'Get "https://{host}/api/v1/nodes": dial tcp {host}: connect: connection refused'
        )
    return [
        machine
        for machine in call.land.machines
        if machine.state.kubernetes.registered
        and machine.config is not None
        and (machine.config.cluster_id, machine.config.os_ca.crt)
        == (config.cluster_id, config.os_ca.crt)
    ]


def _all_nodes_report(subject: Subject) -> None:
    registered = {machine.address for machine in _machines_with_nodes(subject)}
    missing = [address for address in subject.addresses if address not in registered]
    if missing:
        raise CheckFailed(f"can't find expected node with IPs {quoted(missing[:1])}")
    if unexpected := sorted(registered - set(subject.addresses)):
        raise CheckFailed(f"unexpected nodes with IPs {quoted(unexpected)}")


def _static_pods_run(subject: Subject) -> None:
    for machine in subject.machines(subject.controllers):
        if not has_static_pods(machine):
            raise CheckFailed(f"missing static pods on node {machine.address}")


def _control_plane_is_ready(subject: Subject) -> None:
    controllers = [machine for machine in _machines_with_nodes(subject) if machine.is_controlplane]
    ready = [machine for machine in controllers if has_static_pods(machine)]
    if len(ready) != len(controllers):
        raise CheckFailed(
            f"expected number of pods for kube-apiserver to be {len(controllers)}, got {len(ready)}"
        )


def _all_nodes_are_ready(subject: Subject) -> None:
    _skip_without_network(subject)
    waiting = [
        machine.hostname
        for machine in _machines_with_nodes(subject)
        if not (machine.state.is_on and machine.state.kubernetes.node_ready)
    ]
    if waiting:
        raise CheckFailed(f"some nodes are not ready: {_plain(sorted(waiting))}")


def _all_nodes_are_schedulable(subject: Subject) -> None:
    cordoned = [
        machine.hostname
        for machine in _machines_with_nodes(subject)
        if machine.state.kubernetes.cordoned
    ]
    if cordoned:
        raise CheckFailed(f"some nodes are not schedulable: {_plain(sorted(cordoned)[:1])}")


def _proxy_is_ready(subject: Subject) -> None:
    _pods_are_ready(subject, "daemonsets", "kube-proxy")


def _dns_is_ready(subject: Subject) -> None:
    _skip_without_network(subject)
    _pods_are_ready(subject, "deployments", "kube-dns")


def _pods_are_ready(subject: Subject, plural: str, app: str) -> None:
    _machines_with_nodes(subject)
    if not _objects_of_app(subject, plural, app):
        raise CheckSkipped
    pods = _objects_of_app(subject, "pods", app)
    waiting = [str(_part(pod, "metadata").get("name")) for pod in pods if not _is_ready(pod)]
    if not pods or waiting:
        raise CheckFailed(f"some pods are not ready: {_plain(waiting)}")


def _objects_of_app(subject: Subject, plural: str, app: str) -> list[Mapping[str, object]]:
    call = subject.call
    kubernetes = call.land.kubernetes
    return [
        resource
        for resource in (kubernetes.listed(call.machine, plural) if kubernetes is not None else ())
        if _part(resource, "metadata").get("namespace") == _NAMESPACE
        and _part(_part(resource, "metadata"), "labels").get(_LABEL) == app
    ]


def _is_ready(pod: Mapping[str, object]) -> bool:
    conditions = _part(pod, "status").get("conditions")
    return isinstance(conditions, list) and any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


def _part(content: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = content.get(name)
    return part if isinstance(part, Mapping) else {}


def _skip_without_network(subject: Subject) -> None:
    """Talos 1.13 and newer skip some checks when they do not install a pod network."""
    config = subject.call.machine.config
    is_newer = subject.call.machine.at_least("1.13")
    if is_newer and config is not None and config.kubernetes.cni == "none":
        raise CheckSkipped


CHECKS = (
    Check("etcd to be healthy", _etcd_is_healthy),
    Check("etcd members to be consistent across nodes", _etcd_is_consistent),
    Check("etcd members to be control plane nodes", _members_are_controllers),
    Check("apid to be ready", _all_answer),
    Check("all nodes memory sizes", _memory_is_enough),
    Check("all nodes disk sizes", _disks_are_large_enough),
    Check("no diagnostics", _all_answer, limit=_MINUTE),
    Check("kubelet to be healthy", _kubelet_is_healthy),
    Check("all nodes to finish boot sequence", _boot_is_complete),
    Check("all k8s nodes to report", _all_nodes_report, interval=30.0),
    Check("all control plane static pods to be running", _static_pods_run),
    Check("all control plane components to be ready", _control_plane_is_ready),
    Check("all k8s nodes to report ready", _all_nodes_are_ready, limit=10 * _MINUTE),
    Check("kube-proxy to report ready", _proxy_is_ready),
    Check("coredns to report ready", _dns_is_ready),
    Check("all k8s nodes to report schedulable", _all_nodes_are_schedulable),
)
"""In their order."""
