"""Containers are made of archives, listed, and destroyed with all that is theirs."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.cluster_state import ResourcePool, Section

from lab.tests.pve.endpoints.containers import (
    CT,
    LXC,
    TEMPLATE,
    made,
    one_container,
    put_template,
    refused,
    rows,
    running_container,
    shown,
    values,
    volumes,
    with_template,
)
from lab.tests.pve.endpoints.people import somebody

NIC = "name=eth0,bridge=vmbr0,ip=dhcp"
ONLY_NESTING = (
    "Permission check failed (changing feature flags (except nesting) is only allowed for root@pam)"
)


def test_a_container_gets_what_nobody_chose() -> None:
    asked = with_template()

    made(asked, hostname="web", net0=NIC, cores=2, tags="B;a")

    found = shown(asked, f"{CT}/config")
    net = str(found.pop("net0"))
    assert net.startswith("name=eth0,bridge=vmbr0,hwaddr=BC:24:11:")
    assert net.endswith(",ip=dhcp,type=veth")
    found.pop("digest")
    assert found == {
        "arch": "amd64",
        "cores": 2,
        "hostname": "web",
        "memory": 512,
        "ostype": "debian",
        "rootfs": "local-zfs:subvol-200-disk-0,size=8G",
        "swap": 512,
        "tags": "a;b",
        "unprivileged": 1,
    }


def test_the_id_is_taken_and_locked_while_a_worker_is_busy() -> None:
    asked = with_template()

    asked.post(LXC, vmid=200, ostemplate=TEMPLATE, rootfs="thin:2")

    assert shown(asked, f"{CT}/status/current")["lock"] == "create"
    error = refused(asked, "POST", LXC, vmid=200, ostemplate=TEMPLATE, rootfs="thin:2")
    assert (error.status, error.message) == (500, "CT 200 already exists on node 'pve1'")


def test_without_a_root_four_gibibytes_are_made() -> None:
    asked = with_template()
    upid = asked.post(LXC, vmid=200, ostemplate=TEMPLATE, storage="thin")

    assert asked.done(upid) == "OK"

    assert values(asked)["rootfs"] == "thin:vm-200-disk-0,size=4G"


def test_an_archive_that_is_none_fails_as_tar_does() -> None:
    asked = with_template()
    broken = put_template(asked, "x.tar.gz", b"no archive at all")

    upid = asked.post(LXC, vmid=200, ostemplate=broken, rootfs="thin:1")

    status = asked.done(upid)
    assert status.startswith(
        "unable to create CT 200 - command 'lxc-usernsexec -m u:0:100000:65536"
    )
    assert status.endswith("--exclude './dev/*'' failed: exit code 2")


def test_only_templates_can_be_unpacked() -> None:
    error = refused(with_template(), "POST", LXC, vmid=200, ostemplate="local:iso/a.iso")

    expected = "unable to use volume local:iso/a.iso - content type needs to be 'vztmpl'"
    assert (error.status, error.message) == (500, expected)


def test_a_fault_of_a_storage_ends_the_task() -> None:
    asked = with_template()
    asked.world.faults.add(Fault(Point.ALLOCATE, Effect.FAIL, {"vmid": "200"}))

    upid = asked.post(LXC, vmid=200, ostemplate=TEMPLATE, rootfs="thin:1")

    expected = "unable to create CT 200 - cfs-lock 'storage-thin' error: got lock request timeout"
    assert asked.done(upid) == expected


@pytest.mark.parametrize(
    ("settings", "status", "message", "errors"),
    [
        ({"mp0": "thin:1,mp=/srv"}, 500, "mount points configured, but 'rootfs' not set", {}),
        ({"rootfs": "gone:4"}, 500, "storage 'gone' does not exist", {}),
        (
            {"rootfs": "local:4"},
            400,
            "Parameter verification failed.",
            {"storage": "storage 'local' does not support container directories\n"},
        ),
        ({"rootfs": "thin:4", "pool": "nope"}, 500, "pool 'nope' does not exist", {}),
        (
            {"rootfs": "thin:4", "ssh-public-keys": "hello"},
            500,
            "SSH public key validation error",
            {},
        ),
        ({"rootfs": "thin:4", "ostemplate": "-"}, 500, "pipe requires cli environment", {}),
    ],
)
def test_what_cannot_be_made_is_refused_at_once(
    settings: dict[str, object], status: int, message: str, errors: dict[str, str]
) -> None:
    asked = with_template()
    given: dict[str, object] = {"vmid": 200, "ostemplate": TEMPLATE, **settings}

    error = refused(asked, "POST", LXC, **given)

    assert (error.status, error.errors) == (status, errors)
    assert error.message.startswith(message)
    assert 200 not in asked.cluster.state.guests


def test_restoring_is_not_there() -> None:
    error = refused(with_template(), "POST", LXC, vmid=200, ostemplate=TEMPLATE, restore=1)

    assert error.status == 501


def test_a_container_can_start_join_a_pool_and_be_managed_at_once() -> None:
    asked = with_template()
    asked.cluster.state.resource_pools["web"] = ResourcePool("web")

    guest = made(asked, start=1, pool="web", ha__managed=1)

    assert guest.is_running
    assert asked.cluster.state.resource_pools["web"].guests == [200]
    assert asked.cluster.state.ha_resources["ct:200"].options == {"state": "started"}
    types = [task.type for task in asked.cluster.state.tasks.values()]
    assert types == ["vzcreate", "vzstart"]


def test_root_makes_privileged_containers() -> None:
    asked = one_container(unprivileged=0)

    assert "unprivileged" not in values(asked)


@pytest.mark.parametrize(
    ("rights", "settings", "message"),
    [
        ([], {}, "Permission check failed"),
        (
            [("/vms", "VM.Allocate")],
            {"rootfs": "thin:1"},
            "Permission check failed (/vms/200, VM.Config.Disk)",
        ),
        (
            [("/vms", "VM.Allocate VM.Config.Disk")],
            {"rootfs": "thin:1"},
            "Permission check failed (/storage/thin, Datastore.AllocateSpace)",
        ),
        (
            [("/vms", "VM.Allocate VM.Config.Network")],
            {"net0": NIC},
            "Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)",
        ),
        (
            [("/vms", "VM.Allocate")],
            {"features": "nesting=1,keyctl=1"},
            ONLY_NESTING,
        ),
        (
            [("/vms", "VM.Allocate VM.Config.Disk")],
            {"rootfs": "thin:1", "mp0": "/srv,mp=/srv"},
            "Permission check failed (mount point type bind is only allowed for root@pam)",
        ),
        (
            [("/vms", "VM.Allocate"), ("/storage/thin", "Datastore.AllocateSpace")],
            {"storage": "thin"},
            "Permission check failed (/storage/local, Datastore.AllocateSpace|Datastore.Audit)",
        ),
        (
            [("/", "VM.Allocate Datastore.AllocateSpace")],
            {"storage": "thin", "ha-managed": 1},
            "Permission check failed (/, Sys.Console)",
        ),
    ],
)
def test_who_lacks_a_right_is_told_which(
    rights: list[tuple[str, str]], settings: dict[str, object], message: str
) -> None:
    asked = with_template()
    asked.post("/access/users", userid="somebody@pve")
    for path, privileges in rights:
        somebody(asked, path, *privileges.split())
    user = asked.as_caller(Caller("somebody@pve"))
    given: dict[str, object] = {"vmid": 200, "ostemplate": TEMPLATE, **settings}

    error = refused(user, "POST", LXC, **given)

    assert (error.status, error.message) == (403, message)


def test_the_list_shows_what_one_may_see() -> None:
    asked = running_container(memory=1024, cores=2)
    made(asked, 201)

    everything = rows(asked, LXC)
    user = somebody(asked, "/vms/201", "VM.Audit")

    assert [(row["vmid"], row["status"]) for row in everything] == [
        (200, "running"),
        (201, "stopped"),
    ]
    first = everything[0]
    assert (first["maxmem"], first["maxswap"], first["cpus"]) == (1 << 30, 512 << 20, 2)
    assert (first["type"], first["name"], first["maxdisk"]) == ("lxc", "web", 8 << 30)
    assert everything[1]["cpus"] == 16
    assert [row["vmid"] for row in rows(user, LXC)] == [201]


def test_destroying_takes_everything_along() -> None:
    asked = one_container(mp0="thin:1,mp=/srv")
    state = asked.cluster.state
    state.resource_pools["web"] = ResourcePool("web", guests=[200])
    state.ha_resources["ct:200"] = Section("ct:200", "ct")
    state.backup_jobs["nightly"] = Section("nightly", "vzdump", {"vmid": "100,200"})
    state.replication["200-0"] = Section("200-0", "local")
    somebody(asked, "/vms/200", "VM.Audit")

    upid = asked.delete(CT, purge=1)

    assert asked.done(upid) == "OK"
    assert state.guests == {}
    assert volumes(asked) == []
    assert state.resource_pools["web"].guests == []
    assert state.ha_resources == {}
    assert state.replication == {}
    assert state.backup_jobs["nightly"].options == {"vmid": "100"}
    assert rows(asked, "/access/acl") == []
    log = state.tasks[str(upid)].log
    assert "NOTE: removed CT 200 from HA resource configuration." in log


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        ("protection", "can't remove CT 200 - protection mode enabled"),
        ("lock", "CT is locked (backup)"),
        ("ha", "unable to remove CT 200 - used in HA resources and purge parameter not set."),
        (
            "replication",
            "There is a replication job '200-0' for guest '200' - Please remove that first.",
        ),
        ("running", "unable to destroy CT 200 - container is running"),
    ],
)
def test_what_is_still_needed_is_not_destroyed(prepare: str, message: str) -> None:
    asked = one_container()
    state = asked.cluster.state
    match prepare:
        case "protection":
            values(asked)["protection"] = "1"
        case "lock":
            values(asked)["lock"] = "backup"
        case "ha":
            state.ha_resources["ct:200"] = Section("ct:200", "ct")
        case "replication":
            state.replication["200-0"] = Section("200-0", "local")
        case _:
            asked.done(asked.post(f"{CT}/status/start"))

    error = refused(asked, "DELETE", CT)

    assert (error.status, error.message) == (500, message)


def test_force_stops_what_runs() -> None:
    asked = running_container()

    upid = asked.delete(CT, force=1)

    assert asked.done(upid) == "OK"
    assert "forced to stop CT 200 before destroying!" in asked.cluster.state.tasks[str(upid)].log


def test_disks_that_nobody_names_go_when_that_is_asked_for() -> None:
    asked = one_container(mp0="thin:1,mp=/srv")
    del values(asked)["mp0"]

    asked.done(asked.delete(CT, destroy__unreferenced__disks=1))

    assert volumes(asked) == []
