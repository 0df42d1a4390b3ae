"""What holds among Talos machines at any time, whatever was asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stockman_lab.talos import etcd_member
from stockman_lab.talos.sequences.phases import phases
from stockman_lab.talos.state import Stage

if TYPE_CHECKING:
    from stockman_lab.etcd.cluster import EtcdCluster
    from stockman_lab.talos.land import Land
    from stockman_lab.talos.machine import Machine

_KEPT = 16
_SEQUENCES = {
    Stage.INSTALLING: {"install"},
    Stage.REBOOTING: {"reboot"},
    Stage.SHUTTING_DOWN: {"shutdown"},
    Stage.RESETTING: {"reset"},
    Stage.UPGRADING: {"upgrade", "stageUpgrade", "maintenanceUpgrade"},
}
"""What is under way in which stage, where anything is."""


def broken(land: Land) -> Iterator[str]:
    """Everything that contradicts itself."""
    for key, state in land.state.machines.items():
        if key != state.key or land.by_key.get(key) is None:
            yield f"machine {state.key} is kept as {key}"
    for machine in land.machines:
        yield from (f"{machine.key}: {one}" for one in _machine(land, machine))
    yield from _members(land)
    for cluster in land.state.etcd.values():
        yield from (f"etcd {cluster.id}: {one}" for one in _etcd(land, cluster))
    yield from _shared(land)


def _machine(land: Land, machine: Machine) -> Iterator[str]:
    state = machine.state
    guest = land.guest(machine)
    if state.is_on and (guest is None or not guest.is_running):
        yield "it is on, and its virtual machine is not"
    if not state.is_on and (state.api or state.services or state.sequence is not None):
        yield "it is off, and something of it still runs"
    if state.api not in ("", "maintenance", "secured"):
        yield f"its API is {state.api!r}"
    if state.api == "secured" and not state.config:
        yield "its API asks for certificates, and there is no configuration to know them by"
    if state.kubernetes.node_ready and not machine.runs("kubelet"):
        yield "its Node is ready without a kubelet"
    if state.trial is not None and state.trial.until < machine.now:
        yield "a configuration is tried for longer than it should be"
    yield from _sequence(machine)
    yield from _services(machine)
    yield from _events(machine)
    yield from _disk(land, machine)


def _sequence(machine: Machine) -> Iterator[str]:
    running, stage = machine.state.sequence, machine.state.stage
    if running is None:
        return
    options = running.arguments.get("options")
    names = frozenset(map(str, options)) if isinstance(options, list) else frozenset()
    if not 0 <= running.phase < len(phases(running.name, machine.minor, names)):
        yield f"the sequence {running.name} has no phase {running.phase}"
    if running.number > machine.state.sequences_run:
        yield f"the sequence {running.name} is number {running.number}"
    if stage in _SEQUENCES and running.name not in _SEQUENCES[stage]:
        yield f"it is {stage.value}, and {running.name} is under way"


def _services(machine: Machine) -> Iterator[str]:
    for name, service in machine.state.services.items():
        if service.id != name:
            yield f"service {service.id} is kept as {name}"
        if service.is_healthy is not None and not service.is_running:
            yield f"service {name} is {service.state}, and somebody knows its health"
        moments = [event.at for event in service.events]
        if moments != sorted(moments) or any(moment > machine.now for moment in moments):
            yield f"events of service {name} are out of order"


def _events(machine: Machine) -> Iterator[str]:
    ids = [event.id for event in machine.state.events]
    if len(set(ids)) < len(ids) or ids != sorted(ids):
        yield "its events do not grow"
    if any(event.at > machine.now for event in machine.state.events):
        yield "an event is in the future"


def _disk(land: Land, machine: Machine) -> Iterator[str]:
    disk, state = machine.disk, machine.state
    if state.slot not in ("", "A", "B"):
        yield f"it booted from slot {state.slot!r}"
    if disk is None:
        return
    if disk.is_installed and disk.default not in disk.slots:
        yield f"slot {disk.default!r} boots next, and nothing is in it"
    if disk.recovery and disk.recovery not in land.around.blobs:
        yield "the snapshot on its disk is gone"


def _members(land: Land) -> Iterator[str]:
    """Data of members on disks: each on one, of a cluster that is known, in it or removed."""
    counter: Counter[str] = Counter()
    for machine in land.machines:
        disk = machine.disk
        member = etcd_member.member_of(machine)
        if disk is None or not member:
            continue
        cluster = etcd_member.cluster_of(machine)
        if cluster is None:
            yield f"{machine.key}: its etcd is of a cluster that nobody knows"
            continue
        counter[f"{cluster.id}/{member}"] += 1
        if member not in cluster.members and member not in cluster.removed:
            yield f"{machine.key}: it has the data of member {member}, which never was one"
        if member in cluster.removed and machine.runs("etcd"):
            yield f"{machine.key}: its etcd runs although it was removed"
    for member, count in counter.items():
        if count > 1:
            yield f"{count} disks hold the data of etcd member {member}"


def _etcd(land: Land, cluster: EtcdCluster) -> Iterator[str]:
    alive = etcd_member.alive(land, cluster)
    voters = cluster.voters
    if cluster.leader and cluster.leader not in voters:
        yield f"{cluster.leader} leads and has no vote"
    if set(cluster.members) & cluster.removed:
        yield "a member is there and was removed"
    if not cluster.members:
        yield "it has no members"
    living = [key for key, voter in voters.items() if key in alive and voter.started]
    if cluster.leader and alive and len(living) < len(voters) // 2 + 1:
        yield f"{cluster.leader} leads without a quorum"
    for alarm in cluster.alarms:
        if alarm.member not in cluster.members:
            yield f"member {alarm.member} has an alarm and is none"
    names = [member.name for member in cluster.members.values() if member.name]
    if len(set(names)) < len(names):
        yield f"two members have one name: {', '.join(sorted(names))}"


def _shared(land: Land) -> Iterator[str]:
    """A shared address is held by one machine, which wants it."""
    holders: dict[str, list[str]] = {}
    for machine in land.on():
        for one in machine.state.network.addresses:
            if one.is_vip:
                holders.setdefault(one.address, []).append(machine.key)
                if one.address.partition("/")[0] != machine.state.network.vip:
                    yield f"{machine.key}: it holds {one.address}, which it does not want"
    for address, machines in holders.items():
        if len(machines) > 1:
            yield f"{address} is held by {', '.join(machines)}"
