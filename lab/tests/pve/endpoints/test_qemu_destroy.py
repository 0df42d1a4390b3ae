"""The end of virtual machines."""

from __future__ import annotations

import pytest
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError

from lab.tests.machines import QEMU, create, ended, user
from lab.tests.worlds import door


def test_a_destroyed_machine_takes_its_own_disks_along() -> None:
    api = door()
    create(api, 100, scsi0="local-zfs:1", scsi1="thin:1")
    create(api, 101, scsi0="local-zfs:1")
    api.put(f"{QEMU}/100/config", delete="scsi1")
    api.put(f"{QEMU}/100/config", scsi2="local-zfs:vm-101-disk-0")

    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"

    assert set(api.cluster.state.volumes) == {"pve1/local-zfs:vm-101-disk-0"}
    with pytest.raises(ApiError) as caught:
        api.get(f"{QEMU}/100/status/current")
    assert caught.value.message == (
        "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist"
    )


def test_disks_that_nothing_refers_to_stay_unless_they_are_asked_for() -> None:
    api = door()
    for vmid in (100, 101):
        create(api, vmid, scsi0="local-zfs:1")
        del api.cluster.state.guests[vmid].config.values["scsi0"]

    ended(api, "DELETE", f"{QEMU}/100")
    ended(api, "DELETE", f"{QEMU}/101", destroy__unreferenced__disks=1)

    assert set(api.cluster.state.volumes) == {"pve1/local-zfs:vm-100-disk-0"}


def test_entries_elsewhere_go_with_a_machine_that_is_purged() -> None:
    api = door()
    create(api, 100)
    state = api.cluster.state
    state.ha_resources["vm:100"] = Section("vm:100", "vm")
    state.replication["100-0"] = Section("100-0", "local", {"target": "pve2"})
    state.backup_jobs["daily"] = Section("daily", "", {"vmid": "99,100"})
    api.post("/access/users", userid="bob@pve")
    api.put("/access/acl", path="/vms/100", roles="PVEVMUser", users="bob@pve")

    assert ended(api, "DELETE", f"{QEMU}/100", purge=1) == "OK"

    assert state.ha_resources == {}
    assert state.replication == {}
    assert state.backup_jobs["daily"].options == {"vmid": "99"}
    assert "/vms/100" not in state.access.acl


def test_what_is_needed_elsewhere_is_not_destroyed_without_purge() -> None:
    api = door()
    create(api, 100)
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm")

    with pytest.raises(ApiError) as caught:
        api.delete(f"{QEMU}/100")

    assert caught.value.message == (
        "unable to remove VM 100 - used in HA resources and purge parameter not set."
    )


def test_a_replicated_machine_is_not_destroyed_without_purge() -> None:
    api = door()
    create(api, 100)
    api.cluster.state.replication["100-0"] = Section("100-0", "local", {"target": "pve2"})

    with pytest.raises(ApiError, match="There is a replication job '100-0' for guest '100'"):
        api.delete(f"{QEMU}/100")


def test_protected_and_running_machines_are_not_destroyed() -> None:
    api = door()
    create(api, 100, protection=1)
    create(api, 101)
    ended(api, "POST", f"{QEMU}/101/status/start")

    with pytest.raises(ApiError, match="can't remove VM 100 - protection mode enabled"):
        api.delete(f"{QEMU}/100")
    with pytest.raises(ApiError, match="VM 101 is running - destroy failed"):
        api.delete(f"{QEMU}/101")


def test_only_root_may_pass_over_a_lock() -> None:
    somebody = user(door(), "VM.Allocate")

    with pytest.raises(ApiError) as caught:
        somebody.delete(f"{QEMU}/100", skiplock=1)

    assert caught.value.errors == {"skiplock": "Only root may use this option."}
