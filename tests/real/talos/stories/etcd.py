"""Stories of etcd through talosctl: what is shown, and what becomes of members and snapshots."""

from __future__ import annotations

from stockman_lab.etcd.cluster import Alarm, AlarmKind

from stockman.etcd.status import snapshot_status
from tests.real.talos.golden import agrees
from tests.real.talos.served import Lab, refused, succeeded, together


def members_are_shown(lab: Lab, client: str) -> None:
    """Members, their state, alarms, and a snapshot, on every version alike."""
    ask = lab.talosctl(client)
    members, state, snapshot, defrag, unknown = together(
        lambda: ask("etcd", "members"),
        lambda: ask("etcd", "status"),
        lambda: ask("etcd", "snapshot", ask.home / "db.snapshot"),
        lambda: ask("etcd", "defrag"),
        lambda: ask("etcd", "remove-member", "deadbeef"),
    )

    agrees(lab, "etcd-members", client, succeeded(members))
    assert all(member in members.stdout for member in lab.etcd.members)
    agrees(lab, "etcd-status", client, succeeded(state))
    assert state.stdout.count(lab.etcd.leader) >= 1
    agrees(lab, "etcd-snapshot", client, succeeded(snapshot))
    content = (ask.home / "db.snapshot").read_bytes()
    assert snapshot_status(content).revision == lab.etcd.keyspace.revision
    assert f"hash {snapshot_status(content).hash:08x}, " in snapshot.stdout + snapshot.stderr
    assert succeeded(defrag).stdout == ""
    agrees(lab, "etcd-remove-unknown", client, unknown)
    refused(ask("etcd", "remove-member", "talos-neo"), "error parsing etcd member id")


def alarms_are_disarmed(lab: Lab, client: str) -> None:
    """An alarm is listed, and gone after it was disarmed."""
    ask = lab.talosctl(client)
    assert succeeded(ask("etcd", "alarm", "list")).stdout == ""
    alarm = Alarm(lab.etcd.leader, AlarmKind.NOSPACE)
    lab.served.run(lambda: lab.etcd.alarms.append(alarm))

    agrees(lab, "etcd-alarm-list", client, succeeded(ask("etcd", "alarm", "list")))
    agrees(lab, "etcd-alarm-disarm", client, succeeded(ask("etcd", "alarm", "disarm")))

    assert lab.etcd.alarms == []


def leadership_moves(lab: Lab, client: str) -> None:
    """The leader gives its place to another member; who does not lead does nothing."""
    before = lab.etcd.leader
    place = _place_of(lab, before)
    ask = lab.talosctl(client)

    succeeded(ask("etcd", "forfeit-leadership", nodes=lab.addresses[place]))

    after = lab.etcd.leader
    assert after not in ("", before)
    succeeded(ask("etcd", "forfeit-leadership", nodes=lab.addresses[place]))
    assert lab.etcd.leader == after


def members_go(lab: Lab, client: str) -> None:
    """A member leaves, a dead one is removed, and the last one keeps its place."""
    ask = lab.talosctl(client)
    second, third = lab.machine(1), lab.machine(2)

    succeeded(ask("etcd", "leave", nodes=second.address))

    assert sorted(member.name for member in lab.etcd.members.values()) == sorted(
        (lab.machine().hostname, third.hostname)
    )
    assert second.state.services["etcd"].state == "Finished"
    lost = next(key for key, member in lab.etcd.members.items() if member.name == third.hostname)
    succeeded(ask("etcd", "remove-member", lost))
    assert [member.name for member in lab.etcd.members.values()] == [lab.machine().hostname]
    agrees(lab, "forfeit-alone", client, ask("etcd", "forfeit-leadership"))


def without_quorum(lab: Lab, client: str) -> None:
    """Two of three are gone: what wants a leader is refused, a snapshot is given still."""
    for place in (1, 2):
        lab.switch_off(place)
    ask = lab.talosctl(client)
    members, snapshot, state = together(
        lambda: ask("etcd", "members"),
        lambda: ask("etcd", "snapshot", ask.home / "last.snapshot"),
        lambda: ask("etcd", "status"),
    )

    refused(members, "code = Unknown desc = etcdserver: no leader")
    succeeded(snapshot)
    assert "etcdserver: no leader" in succeeded(state).stdout


def _place_of(lab: Lab, member: str) -> int:
    name = lab.etcd.members[member].name
    return next(
        place for place, machine in enumerate(lab.world.talos.machines) if machine.hostname == name
    )
