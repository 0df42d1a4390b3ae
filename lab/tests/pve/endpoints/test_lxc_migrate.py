"""Containers go to other hosts."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster_state import Section

from lab.tests.pve.endpoints.containers import (
    CT,
    one_container,
    refused,
    running_container,
    values,
)
from lab.tests.pve.endpoints.people import somebody


def test_a_running_container_is_restarted_on_the_way() -> None:
    asked = running_container()

    refusal = refused(asked, "POST", f"{CT}/migrate", target="pve2")
    live = asked.done(asked.post(f"{CT}/migrate", target="pve2", online=1))
    upid = asked.post(f"{CT}/migrate", target="pve2", restart=1)

    expected = "can't migrate running container without --online or --restart"
    assert refusal.message == expected
    assert live == "lxc live migration is currently not implemented"
    assert asked.done(upid) == "OK"
    guest = asked.cluster.state.guests[200]
    assert (guest.node, guest.is_running) == ("pve2", True)


def test_another_storage_can_take_its_place() -> None:
    asked = one_container(rootfs="thin:2")

    upid = asked.post(f"{CT}/migrate", target="pve2", target__storage="thin:ceph")

    assert asked.done(upid) == "OK"
    assert values(asked)["rootfs"] == "ceph:vm-200-disk-0,size=2G"


@pytest.mark.parametrize(
    ("target", "status", "message", "errors"),
    [
        ("pve1", 400, "Parameter verification failed.", {"target": "target is local node."}),
        ("pve9", 500, "no such cluster node 'pve9'", {}),
    ],
)
def test_hosts_that_it_cannot_go_to(
    target: str, status: int, message: str, errors: dict[str, str]
) -> None:
    error = refused(one_container(), "POST", f"{CT}/migrate", target=target)

    assert (error.status, error.message, error.errors) == (status, message, errors)


def test_a_directory_of_the_host_keeps_it_there() -> None:
    asked = one_container(mp0="/srv,mp=/srv")

    done = asked.done(asked.post(f"{CT}/migrate", target="pve2"))

    assert done == "cannot migrate local bind mount point 'mp0'"


def test_a_failure_on_the_way_leaves_it_where_it_was_and_running() -> None:
    asked = running_container()
    asked.world.faults.add(Fault(Point.ALLOCATE, Effect.FAIL, {"node": "pve2"}))

    upid = asked.post(f"{CT}/migrate", target="pve2", restart=1)

    done = asked.done(upid)
    assert done.startswith("storage migration for 'local-zfs:subvol-200-disk-0' to storage")
    guest = asked.cluster.state.guests[200]
    assert (guest.node, guest.is_running, guest.lock) == ("pve1", True, "")


def test_high_availability_moves_what_it_manages() -> None:
    asked = running_container(rootfs="ceph:1")
    asked.cluster.state.ha_resources["ct:200"] = Section("ct:200", "ct", {"state": "started"})

    upid = asked.post(f"{CT}/migrate", target="pve2", restart=1)

    assert asked.done(upid) == "OK"
    types = [task.type for task in asked.cluster.state.tasks.values()]
    assert types[-2:] == ["hamigrate", "vzmigrate"]
    guest = asked.cluster.state.guests[200]
    assert (guest.node, guest.is_running) == ("pve2", True)


def test_other_storages_need_rights() -> None:
    asked = one_container(rootfs="thin:1")
    user = somebody(asked, "/vms/200", "VM.Migrate", "VM.Config.Disk")

    error = refused(user, "POST", f"{CT}/migrate", target="pve2", target__storage="thin:ceph")

    expected = "Permission check failed (/storage/ceph, Datastore.AllocateSpace)"
    assert (error.status, error.message) == (403, expected)
