"""The etcd of a control plane machine: how it begins, joins, runs and leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.timeline import Arguments
from stockman_lab.etcd import membership, quorum
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember, etcd_version
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.services import running as services

if TYPE_CHECKING:
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine
    from stockman_lab.talos.state import Service


def bootstrap(machine: Machine, *, recover: bool = False, skip_hash: bool = False) -> None:
    """Let the etcd of a machine begin a cluster."""
    machine.state.bootstrap = {"recover": recover, "skip_hash": skip_hash, "wanted": True}
    machine.land.settle(machine)


HEALTHY = "talos.etcd.healthy"
PROMOTE = "talos.etcd.promote"
JOIN = "talos.etcd.join"
_AGAIN = 10.0
_JOIN, _PROMOTE = "etcd.join", "etcd.promote"
"""What is planned once, or hangs."""
_UNHEALTHY = "etcdserver: unhealthy cluster"
_NOT_READY = "etcdserver: can only promote a learner member which is in sync with leader"
_REMOVED = "the member has been permanently removed from the cluster"


class EtcdRefused(Exception):
    """What etcd answers instead of doing it."""


def cluster_of(machine: Machine) -> EtcdCluster | None:
    """The etcd cluster whose data is on the disk of a machine. None: there is none."""
    return machine.land.state.etcd.get(str(_told(machine).get("cluster", "")))


def member_of(machine: Machine) -> str:
    """Its id in that cluster, 16 digits. Empty: it is no member."""
    return str(_told(machine).get("member", ""))


def _told(machine: Machine) -> Mapping[str, object]:
    disk = machine.disk
    return disk.etcd if disk is not None else {}


def is_alive(machine: Machine) -> bool:
    """Whether its etcd runs and others reach it."""
    etcd = machine.service("etcd")
    if etcd is None or not etcd.is_running or not machine.is_reachable:
        return False
    return machine.fault_lasts(Point.ETCD, {"action": "run"}) is None


def alive(fleet: Fleet, cluster: EtcdCluster) -> set[str]:
    """Ids of members that are alive."""
    names = set()
    for all_controller in fleet.all_controllers():
        if is_alive(all_controller):
            told = _told(all_controller)
            if fleet.state.etcd.get(str(told.get("cluster", ""))) is cluster:
                names.add(str(told.get("member", "")))
    return names


def clusters_alive(machine: Machine) -> Iterator[EtcdCluster]:
    """Clusters of the control planes around a machine that somebody answers for."""
    for controller in machine.land.controllers(machine):
        cluster = cluster_of(controller)
        if cluster is not None and is_alive(controller):
            yield cluster


def has_quorum(machine: Machine) -> bool:
    """Whether the etcd cluster of a machine, as far as it sees it, can agree on anything."""
    cluster = cluster_of(machine)
    if cluster is None:
        return False
    seen = alive(machine.land, cluster) if machine.is_reachable else {member_of(machine)}
    return quorum.has_quorum(cluster, seen)


def elect(fleet: Fleet) -> None:
    """Let every cluster have a leader, where enough members are alive."""
    for cluster in fleet.state.etcd.values():
        quorum.leader(cluster, alive(fleet, cluster))


# -- beginning ---------------------------------------------------------------------------------


def go_on(machine: Machine) -> None:
    """Let the etcd of a machine begin as soon as it can, and be as well as its cluster is."""
    service = machine.service("etcd")
    if service is None:
        return
    if service.state == "Preparing" and not service.events[-1].message.startswith("Creating"):
        _begin(machine, service)
    elif service.is_running and _was_removed(machine):
        _end(machine, service)
    elif service.is_running and service.is_healthy is not None:
        _feel(machine, service)
        if _is_overdue(machine):
            _plan_promotion(machine, _AGAIN)


def _begin(machine: Machine, service: Service) -> None:
    disk = machine.disk
    if disk is None or not machine.state.is_time_synced:
        return
    if disk.etcd:
        _start_again(machine, service)
    elif machine.state.bootstrap:
        _bootstrap(machine, service)
    else:
        _join(machine, service)


def _start_again(machine: Machine, service: Service) -> None:
    if cluster_of(machine) is None or _was_removed(machine):
        _end(machine, service)
    else:
        services.launch(machine, service)


def _was_removed(machine: Machine) -> bool:
    """Whether others took the member out whose data is on its disk."""
    cluster = cluster_of(machine)
    return cluster is not None and member_of(machine) not in cluster.members


def _end(machine: Machine, service: Service) -> None:
    services.become(machine, service, "Failed", _REMOVED)
    machine.log("etcd", f'{{"level":"fatal","msg":"discovery failed","error":"{_REMOVED}"}}')


def _bootstrap(machine: Machine, service: Service) -> None:
    from stockman_lab.etcd.snapshots import RestoreRefused, restored

    disk = machine.disk
    bootstrap, machine.state.bootstrap = machine.state.bootstrap, {}
    if disk is None:
        return
    first = EtcdMember(
        name=machine.hostname,
        peer_urls=_urls(machine, 2380),
        client_urls=_urls(machine, 2379),
        server_version=etcd_version(machine.minor),
    )
    if bootstrap.get("recover"):
        content = machine.land.around.blobs.get(disk.recovery)
        try:
            cluster = restored(content, first, machine.now, checked=not bootstrap.get("skip_hash"))
        except RestoreRefused as refused:
            why = f"error restoring etcd snapshot: {refused}"
            services.become(machine, service, "Failed", why)
            disk.write_etcd({"cluster": "", "member": ""})
            return
        machine.land.around.blobs.release(disk.recovery)
        disk.recovery = ""
    else:
        cluster = membership.new_cluster(
            first.name, first.peer_urls, first.client_urls, first.server_version, machine.now
        )
    machine.land.state.etcd[cluster.id] = cluster
    disk.write_etcd({"cluster": cluster.id, "member": cluster.leader})
    services.launch(machine, service)


def _join(machine: Machine, service: Service) -> None:
    etcd_cluster = _reachable_cluster(machine)
    disk = machine.disk
    if etcd_cluster is None or disk is None:
        return
    if _JOIN in machine.state.planned:
        return
    fault = machine.fault(Point.ETCD, {"action": "join"})
    if fault is not None:
        _join_later(machine, fault)
        return
    living = alive(machine.land, etcd_cluster)
    try:
        member = membership.join(
            etcd_cluster, living, machine.hostname, _urls(machine, 2380), machine.now
        )
    except EtcdError as error:
        machine.log("etcd", f"error joining: {error}")
        return
    disk.write_etcd({"cluster": etcd_cluster.id, "member": member})
    services.launch(machine, service)


def _join_later(machine: Machine, fault: Fault) -> None:
    """A machine that may not join tries again, unless it hangs or is refused for good."""
    if fault.effect is Effect.HANG:
        machine.state.planned.add(_JOIN)
        return
    machine.log("etcd", f"error joining: {fault.message or _UNHEALTHY}")
    if fault.times is not None:
        machine.state.planned.add(_JOIN)
        machine.after(_AGAIN, JOIN)


def join_again(machine: Machine, arguments: Arguments) -> None:
    """The pause after a refusal is over."""
    del arguments
    machine.state.planned.discard(_JOIN)


def _reachable_cluster(machine: Machine) -> EtcdCluster | None:
    """The etcd cluster of the other control planes that can agree on a new member."""
    for controller in machine.land.controllers(machine):
        cluster = (
            cluster_of(controller) if controller is not machine and is_alive(controller) else None
        )
        if cluster is not None and has_quorum(controller):
            return cluster
    return None


def _urls(machine: Machine, port: int) -> list[str]:
    address = machine.address
    text = f"[{address}]" if ":" in address else address
    return [f"https://{text}:{port}"]


# -- running -----------------------------------------------------------------------------------


def started(machine: Machine, arguments: Arguments) -> None:
    """The process runs: it tells its name, and a learner waits to be promoted."""
    del arguments
    cluster, member = cluster_of(machine), member_of(machine)
    if cluster is None or member not in cluster.members:
        return
    found = cluster.members[member]
    found.server_version = etcd_version(machine.minor)
    membership.start(cluster, member, machine.hostname, _urls(machine, 2379), machine.now)
    if found.is_learner:
        _plan_promotion(machine, machine.delayed("promote", "promote"))
    machine.after(0.0, HEALTHY)


def _plan_promotion(machine: Machine, seconds: float | None) -> None:
    machine.state.planned.add(_PROMOTE)
    if seconds is not None:
        machine.after(seconds, PROMOTE)


def _is_overdue(machine: Machine) -> bool:
    """Whether it is a learner that nobody is about to promote, although it could be."""
    cluster, member = cluster_of(machine), member_of(machine)
    if cluster is None or member not in cluster.members or _PROMOTE in machine.state.planned:
        return False
    found = cluster.members[member]
    lasts = machine.fault_lasts(Point.ETCD, {"action": "promote"})
    if lasts is not None and lasts.times is None:
        return False
    return found.is_learner and found.started and has_quorum(machine)


def promote(machine: Machine, arguments: Arguments) -> None:
    """A learner asks for its vote; refused, it asks again."""
    del arguments
    fault = machine.fault(Point.ETCD, {"action": "promote"})
    if fault is not None and fault.effect is Effect.HANG:
        return
    machine.state.planned.discard(_PROMOTE)
    if fault is not None:
        machine.log("etcd", f"error promoting: {fault.message or _NOT_READY}")
        return
    cluster, member = cluster_of(machine), member_of(machine)
    if cluster is None or member not in cluster.members:
        return
    if not cluster.members[member].is_learner:
        return
    try:
        membership.promote(cluster, alive(machine.land, cluster), member, machine.now)
    except EtcdError as error:
        machine.log("etcd", f"error promoting: {error}")


def healthy(machine: Machine, arguments: Arguments) -> None:
    """Somebody looks at the health of etcd for the first time."""
    del arguments
    service = machine.service("etcd")
    if service is not None and service.is_running:
        _feel(machine, service)


def _feel(machine: Machine, service: Service) -> None:
    cluster = cluster_of(machine)
    fault = machine.fault_lasts(Point.ETCD, {"action": "run"})
    if fault is not None:
        services.feel(machine, service, False, fault.message or "context deadline exceeded")
    elif cluster is None or not is_alive(machine) or not has_quorum(machine):
        services.feel(machine, service, False, "context deadline exceeded")
    else:
        services.feel(machine, service, True)


# -- leaving -----------------------------------------------------------------------------------


def leave(machine: Machine) -> None:
    """Take the machine out of its cluster, and empty its data; raises `EtcdRefused`."""
    cluster, member = cluster_of(machine), member_of(machine)
    disk = machine.disk
    if cluster is None or disk is None:
        return
    if member in cluster.members:
        try:
            membership.leave(cluster, alive(machine.land, cluster), member)
        except EtcdError as error:
            raise EtcdRefused(str(error)) from None
    disk.write_etcd({})
