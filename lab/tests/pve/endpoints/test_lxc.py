"""Containers: made, changed, switched, resized, migrated and destroyed."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster_state import ResourcePool, Section
from stockman_lab.servers.memory import MemoryClient

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


def test_a_container_gets_what_nobody_chose() -> None:
    api = with_template()

    made(api, hostname="web", net0=NIC, cores=2, tags="B;a")

    reply = shown(api, f"{CT}/config")
    net = str(reply.pop("net0"))
    assert net.startswith("name=eth0,bridge=vmbr0,hwaddr=BC:24:11:")
    assert net.endswith(",ip=dhcp,type=veth")
    reply.pop("digest")
    assert reply == {
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
    api = with_template()

    api.post(LXC, vmid=200, ostemplate=TEMPLATE, rootfs="thin:2")

    assert shown(api, f"{CT}/status/current")["lock"] == "create"
    error = refused(api, "POST", LXC, vmid=200, ostemplate=TEMPLATE, rootfs="thin:2")
    assert (error.status, error.message) == (500, "CT 200 already exists on node 'pve1'")


def test_without_a_root_four_gibibytes_are_made() -> None:
    api = with_template()
    upid = api.post(LXC, vmid=200, ostemplate=TEMPLATE, storage="thin")

    assert api.done(upid) == "OK"

    assert values(api)["rootfs"] == "thin:vm-200-disk-0,size=4G"


def test_an_archive_that_is_none_fails_as_tar_does() -> None:
    api = with_template()
    broken = put_template(api, "x.tar.gz", b"no archive at all")

    upid = api.post(LXC, vmid=200, ostemplate=broken, rootfs="thin:1")

    status = api.done(upid)
    assert status.startswith(
        "unable to create CT 200 - command 'lxc-usernsexec -m u:0:100000:65536"
    )
    assert status.endswith("--exclude './dev/*'' failed: exit code 2")


def test_only_templates_can_be_unpacked() -> None:
    error = refused(with_template(), "POST", LXC, vmid=200, ostemplate="local:iso/a.iso")

    expected = "unable to use volume local:iso/a.iso - content type needs to be 'vztmpl'"
    assert (error.status, error.message) == (500, expected)


def test_a_fault_of_a_storage_ends_the_task() -> None:
    api = with_template()
    api.world.faults.add(Fault(Point.ALLOCATE, Effect.FAIL, {"vmid": "200"}))

    upid = api.post(LXC, vmid=200, ostemplate=TEMPLATE, rootfs="thin:1")

    expected = "unable to create CT 200 - cfs-lock 'storage-thin' error: got lock request timeout"
    assert api.done(upid) == expected


def test_restoring_is_not_there() -> None:
    error = refused(with_template(), "POST", LXC, vmid=200, ostemplate=TEMPLATE, restore=1)

    assert error.status == 501


def test_a_container_can_start_join_a_pool_and_be_managed_at_once() -> None:
    api = with_template()
    api.cluster.state.resource_pools["web"] = ResourcePool("web")

    guest = made(api, start=1, pool="web", ha__managed=1)

    assert guest.is_running
    assert api.cluster.state.resource_pools["web"].guests == [200]
    assert api.cluster.state.ha_resources["ct:200"].options == {"state": "started"}
    types = [task.type for task in api.cluster.state.tasks.values()]
    assert types == ["vzcreate", "vzstart"]


def test_root_makes_privileged_containers() -> None:
    api = one_container(unprivileged=0)

    assert "unprivileged" not in values(api)


def test_the_list_shows_what_one_may_see() -> None:
    api = running_container(memory=1024, cores=2)
    made(api, 201)

    everything = rows(api, LXC)
    user = somebody(api, "/vms/201", "VM.Audit")

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
    api = one_container(mp0="thin:1,mp=/srv")
    state = api.cluster.state
    state.resource_pools["web"] = ResourcePool("web", guests=[200])
    state.ha_resources["ct:200"] = Section("ct:200", "ct")
    state.backup_jobs["nightly"] = Section("nightly", "vzdump", {"vmid": "100,200"})
    state.replication["200-0"] = Section("200-0", "local")
    somebody(api, "/vms/200", "VM.Audit")

    upid = api.delete(CT, purge=1)

    assert api.done(upid) == "OK"
    assert state.guests == {}
    assert volumes(api) == []
    assert state.resource_pools["web"].guests == []
    assert state.ha_resources == {}
    assert state.replication == {}
    assert state.backup_jobs["nightly"].options == {"vmid": "100"}
    assert rows(api, "/access/acl") == []
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
    api = one_container()
    state = api.cluster.state
    match prepare:
        case "protection":
            values(api)["protection"] = "1"
        case "lock":
            values(api)["lock"] = "backup"
        case "ha":
            state.ha_resources["ct:200"] = Section("ct:200", "ct")
        case "replication":
            state.replication["200-0"] = Section("200-0", "local")
        case _:
            api.done(api.post(f"{CT}/status/start"))

    error = refused(api, "DELETE", CT)

    assert (error.status, error.message) == (500, message)


def test_force_stops_what_runs() -> None:
    api = running_container()

    upid = api.delete(CT, force=1)

    assert api.done(upid) == "OK"
    assert "forced to stop CT 200 before destroying!" in api.cluster.state.tasks[str(upid)].log


def test_disks_that_nobody_names_go_when_that_is_asked_for() -> None:
    api = one_container(mp0="thin:1,mp=/srv")
    del values(api)["mp0"]

    api.done(api.delete(CT, destroy__unreferenced__disks=1))

    assert volumes(api) == []


MODIFIED = "detected modified configuration - file changed by other user? Try again."


def pending(asked_rows: list[dict[str, object]], key: str) -> dict[str, object]:
    return next(row for row in asked_rows if row["key"] == key)


def test_a_stopped_container_takes_everything_at_once() -> None:
    api = one_container()

    answer = api.put(f"{CT}/config", memory=1024, cpulimit="1.5", description="sheep\nand more")

    assert answer is None
    reply = shown(api, f"{CT}/config")
    assert (reply["memory"], reply["cpulimit"]) == (1024, "1.5")
    assert reply["description"] == "sheep\nand more\n"


def test_what_waits_can_be_taken_back() -> None:
    api = running_container()
    api.put(f"{CT}/config", tty=4)

    api.put(f"{CT}/config", revert="tty")

    assert [row["key"] for row in rows(api, f"{CT}/pending") if "pending" in row] == []


def test_a_mount_point_that_goes_is_unused_and_then_destroyed() -> None:
    api = one_container(mp0="thin:2,mp=/srv")

    api.put(f"{CT}/config", delete="mp0")
    assert values(api)["unused0"] == "thin:vm-200-disk-0"
    api.put(f"{CT}/config", delete="unused0")

    assert "unused0" not in values(api)
    assert "thin:vm-200-disk-0" not in volumes(api)


def test_a_volume_that_is_there_already_is_mounted_with_its_own_size() -> None:
    api = one_container(mp0="thin:2,mp=/srv")
    api.put(f"{CT}/config", delete="mp0")

    api.put(f"{CT}/config", mp1="thin:vm-200-disk-0,mp=/new")

    assert values(api)["mp1"] == "thin:vm-200-disk-0,mp=/new,size=2G"
    assert "unused0" not in values(api)


def test_the_environment_is_shown_only_to_who_may_change_it() -> None:
    api = one_container(env="SECRET=wool")
    user = somebody(api, "/vms/200", "VM.Audit")

    assert shown(api, f"{CT}/config")["env"] == "SECRET=wool"
    assert "env" not in shown(user, f"{CT}/config")
    assert "env" not in [row["key"] for row in rows(user, f"{CT}/pending")]


def test_settings_of_lxc_itself_are_shown() -> None:
    api = one_container()
    api.cluster.state.guests[200].config.raw = [["lxc.idmap", "u 0 100000 1000"]]

    assert shown(api, f"{CT}/config")["lxc"] == [["lxc.idmap", "u 0 100000 1000"]]


STATIC = "name=eth0,bridge=vmbr0,ip=127.66.9.9/16,gw=127.66.0.1,ip6=fd00::9/64"
LEASED = "name=eth1,bridge=vmbr0,ip=dhcp,hwaddr=BC:24:11:00:00:01"
DOWN = "name=eth2,bridge=vmbr0,ip=dhcp,link_down=1"


def test_addresses_are_those_that_were_given_and_those_of_the_network() -> None:
    api = running_container(net0=STATIC, net1=LEASED, net2=DOWN)

    found = {str(row["name"]): row for row in rows(api, f"{CT}/interfaces")}

    assert list(found) == ["lo", "eth0", "eth1", "eth2"]
    assert found["lo"]["inet"] == "127.0.0.1/8"
    assert found["eth0"]["inet"] == "127.66.9.9/16"
    leased = found["eth1"]
    assert leased["hwaddr"] == leased["hardware-address"] == "bc:24:11:00:00:01"
    assert leased["ip-addresses"] == [
        {"ip-address": "127.66.1.100", "ip-address-type": "inet", "prefix": 16},
        {"ip-address": "fe80::be24:11ff:fe00:1", "ip-address-type": "inet6", "prefix": 64},
    ]
    assert found["eth2"]["ip-addresses"] == []


def test_a_container_that_does_not_run_has_no_links() -> None:
    assert one_container().get(f"{CT}/interfaces") is None


STATUS = f"{CT}/status"


def status(api: MemoryClient) -> object:
    return shown(api, f"{STATUS}/current")["status"]


def managed(api: MemoryClient) -> MemoryClient:
    api.cluster.state.ha_resources["ct:200"] = Section("ct:200", "ct", {"state": "stopped"})
    return api


@pytest.mark.parametrize(("action", "params"), [("stop", {}), ("shutdown", {"timeout": 30})])
def test_a_container_stops(action: str, params: dict[str, object]) -> None:
    api = running_container()

    assert api.done(api.post(f"{STATUS}/{action}", **params)) == "OK"

    assert status(api) == "stopped"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("stop", "CT 200 not running"),
        ("shutdown", "CT 200 not running"),
    ],
)
def test_what_does_not_run_cannot_stop(action: str, message: str) -> None:
    error = refused(one_container(), "POST", f"{STATUS}/{action}")

    assert (error.status, error.message) == (500, message)


def test_what_runs_cannot_start() -> None:
    error = refused(running_container(), "POST", f"{STATUS}/start")

    assert (error.status, error.message) == (500, "CT 200 already running")


def test_a_container_whose_bridge_is_not_there_does_not_start() -> None:
    api = one_container(net0="name=eth0,bridge=vmbr9")

    upid = api.post(f"{STATUS}/start")

    assert api.done(upid) == "startup for container '200' failed"
    assert api.cluster.state.tasks[str(upid)].log[0] == "bridge 'vmbr9' does not exist"


def test_a_fault_keeps_a_container_from_starting() -> None:
    api = one_container()
    api.world.faults.add(Fault(Point.BOOT, Effect.FAIL, {"vmid": "200"}))

    assert api.done(api.post(f"{STATUS}/start")) == "startup for container '200' failed"


def test_two_at_once_wait_for_each_other_up_to_ten_seconds() -> None:
    api = running_container()
    api.world.faults.add(Fault(Point.SHUTDOWN, Effect.HANG))
    api.post(f"{STATUS}/shutdown", timeout=60)

    second = api.post(f"{STATUS}/stop")

    expected = "can't lock file '/var/lock/lxc/pve-config-200.conf' - got timeout"
    assert api.done(second) == expected


def test_what_high_availability_manages_is_only_asked_for() -> None:
    asked = managed(one_container())

    upid = asked.post(f"{STATUS}/start")

    assert asked.done(upid) == "OK"
    tasks = asked.cluster.state.tasks
    assert tasks[str(upid)].log[0] == "Requesting HA start for CT 200"
    assert [task.type for task in tasks.values()] == ["vzcreate", "hastart", "vzstart"]
    assert status(asked) == "running"

    assert asked.done(asked.post(f"{STATUS}/shutdown")) == "OK"
    assert [task.type for task in tasks.values()][-2:] == ["hastop", "vzshutdown"]
    assert status(asked) == "stopped"


def test_a_shutdown_by_high_availability_is_not_overruled() -> None:
    asked = managed(running_container())

    error = refused(asked, "POST", f"{STATUS}/stop", overrule__shutdown=1)

    assert error.errors == {"overrule-shutdown": "Not applicable for HA resources."}


@pytest.mark.parametrize(
    ("effect", "later"), [(Effect.DELAY, ["lo", "eth0"]), (Effect.HANG, ["lo"])]
)
def test_a_container_may_bring_its_network_up_late_or_never(
    effect: Effect, later: list[str]
) -> None:
    api = one_container(net0="name=eth0,bridge=vmbr0,ip=dhcp")
    api.world.faults.add(Fault(Point.BOOT, effect, seconds=600))

    def links() -> list[str]:
        rows = api.get("/nodes/pve1/lxc/200/interfaces")
        return [row["name"] for row in rows]

    assert api.done(api.post(f"{STATUS}/start")) == "OK"
    first = links()
    api.world.advance(601)
    assert (first, links()) == (["lo"], later)


@pytest.mark.parametrize(("size", "expected"), [("+2G", "10G"), ("12G", "12G"), ("8.5G", "8704M")])
def test_a_root_grows(size: str, expected: str) -> None:
    api = running_container()

    assert api.done(api.put(f"{CT}/resize", disk="rootfs", size=size)) == "OK"

    assert values(api)["rootfs"] == f"local-zfs:subvol-200-disk-0,size={expected}"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"disk": "rootfs", "size": "4G"}, "unable to shrink disk size"),
        ({"disk": "rootfs", "size": "8G"}, "disk is already at specified size"),
        ({"disk": "rootfs", "size": "9G", "digest": "0" * 40}, MODIFIED),
    ],
)
def test_what_does_not_grow_is_refused(params: dict[str, object], message: str) -> None:
    error = refused(one_container(), "PUT", f"{CT}/resize", **params)

    assert (error.status, error.message) == (500, message)


def test_growing_needs_a_right_on_the_storage() -> None:
    api = one_container()
    user = somebody(api, "/vms/200", "VM.Config.Disk", "VM.Config.Options")

    error = refused(user, "PUT", f"{CT}/resize", disk="rootfs", size="+1G")

    expected = "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)"
    assert (error.status, error.message) == (403, expected)


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
