"""Switching virtual machines on and off."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.qemu.power import power_off
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.machines import QEMU, create, create_linux, ended, replied, start, user
from lab.tests.worlds import door

STATUS = f"{QEMU}/100/status"


def test_a_started_machine_runs_and_says_so() -> None:
    api = door()
    create_linux(api)

    assert ended(api, "POST", f"{STATUS}/start", timeout=60) == "OK"

    row = replied(api, "GET", f"{STATUS}/current")
    assert (row["status"], row["qmpstatus"], row["agent"]) == ("running", "running", 1)
    assert (row["running-qemu"], row["running-machine"]) == ("10.1.2", "pc-i440fx-10.1+pve0")
    assert row["ha"] == {"managed": 0}
    assert isinstance(row["pid"], int)


def test_time_passes_while_it_runs() -> None:
    api = door()
    guest = create_linux(api)
    start(api)

    row = api.get(f"{STATUS}/current")

    assert row["uptime"] == int(api.world.now - guest.started_at) > 60


def test_starting_twice_is_the_error_of_the_task() -> None:
    api = door()
    create_linux(api)
    start(api)

    assert ended(api, "POST", f"{STATUS}/start") == "VM 100 already running"


def test_a_template_does_not_start() -> None:
    api = door()
    create(api, template=1)

    assert ended(api, "POST", f"{STATUS}/start") == "you can't start a vm if it's a template"


def test_a_locked_machine_does_not_start() -> None:
    api = door()
    create(api).config.values["lock"] = "clone"

    assert ended(api, "POST", f"{STATUS}/start") == "VM is locked (clone)"


def test_stopping_what_is_stopped_is_fine() -> None:
    api = door()
    create(api)

    assert ended(api, "POST", f"{STATUS}/stop") == "OK"


def test_a_guest_that_hears_shuts_down_by_itself() -> None:
    api = door()
    guest = create_linux(api)
    start(api)
    before = api.world.now

    assert ended(api, "POST", f"{STATUS}/shutdown") == "OK"

    assert not guest.is_running
    assert guest.inside == {}
    assert 5 <= api.world.now - before <= 30


def test_blank_disks_boot_nothing_and_nobody_hears_the_button() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:8", agent="1")
    start(api)

    status = ended(api, "POST", f"{STATUS}/shutdown", timeout=20)

    assert status == "VM quit/powerdown failed - got timeout"
    assert guest.is_running
    with pytest.raises(ApiError, match="QEMU guest agent is not running"):
        api.get(f"{QEMU}/100/agent/get-osinfo")


def test_who_does_not_hear_is_terminated_if_that_is_wanted() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:8")
    start(api)

    assert ended(api, "POST", f"{STATUS}/shutdown", timeout=20, forceStop=1) == "OK"

    assert not guest.is_running
    task = list(api.cluster.state.tasks.values())[-1]
    assert task.log[0] == "VM still running - terminating now with SIGTERM"


def test_a_guest_that_switches_itself_off_when_asked_to_reboot_is_switched_on_again() -> None:
    api = door()
    guest = create_linux(api)
    start(api)
    api.post(f"{STATUS}/reboot")

    power_off(api.cluster, guest)
    api.world.settle()

    assert guest.is_running


def test_a_stop_can_overrule_a_shutdown() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:8")
    start(api)
    waiting = str(api.post(f"{STATUS}/shutdown", timeout=600))

    assert ended(api, "POST", f"{STATUS}/stop", overrule__shutdown=1) == "OK"

    assert not guest.is_running
    assert api.cluster.state.tasks[waiting].exit_status == "unexpected status"


def test_a_stop_without_that_waits_in_vain_for_the_lock() -> None:
    api = door()
    create(api, scsi0="local-zfs:8")
    start(api)
    api.post(f"{STATUS}/shutdown", timeout=600)

    assert ended(api, "POST", f"{STATUS}/stop") == (
        "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"
    )


def test_a_start_right_after_a_stop_waits_for_it() -> None:
    api = door()
    guest = create_linux(api)
    start(api)

    api.post(f"{STATUS}/stop")
    assert ended(api, "POST", f"{STATUS}/start") == "OK"

    assert guest.is_running


def test_managed_machines_only_get_a_wish_and_the_manager_does_the_rest() -> None:
    api = door()
    guest = create_linux(api)
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm", {"state": "stopped"})

    upid = str(api.post(f"{STATUS}/start"))
    api.world.advance(1)
    at_once = guest.is_running
    api.world.settle()

    assert upid.split(":")[5] == "hastart"
    assert not at_once
    assert guest.is_running
    assert api.get(f"{STATUS}/current")["ha"] == {"managed": 1, "state": "started"}

    api.world.advance(60)
    assert str(api.post(f"{STATUS}/stop")).split(":")[5] == "hastop"
    api.world.settle()
    assert not guest.is_running


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"cores": 64}, "MAX 16 vcpus allowed per VM on this node"),
        ({"hostpci0": "mapping=gpu"}, "PCI device mapping not found for 'gpu'"),
        ({"hostpci0": "05:00.0"}, "no PCI device found for '05:00.0'"),
        ({"hostpci0": "01:00.0,pcie=1"}, "q35 machine model is not enabled"),
        ({"usb0": "mapping=dongle"}, "USB device mapping not found for 'dongle'"),
        ({"memory": "200000"}, "start failed: QEMU exited with code 1"),
        ({"net0": "virtio,bridge=vmbr9"}, "start failed: QEMU exited with code 1"),
    ],
)
def test_a_host_has_to_have_what_the_machine_needs(values: dict[str, object], status: str) -> None:
    api = door()
    create(api, 100, **values)

    assert ended(api, "POST", f"{STATUS}/start") == status


def test_a_device_is_for_one_machine_at_a_time() -> None:
    api = door()
    create(api, 100, hostpci0="01:00.0")
    create(api, 101, hostpci0="01:00.0")
    start(api, 100)

    status = ended(api, "POST", f"{QEMU}/101/status/start")

    assert status == "PCI device '01:00.0' already in use by VMID '100'"


def test_a_disk_that_is_gone_stops_the_start() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    api.cluster.state.volumes.clear()

    status = ended(api, "POST", f"{STATUS}/start")

    assert status == "volume 'local-zfs:vm-100-disk-0' does not exist"


def test_a_storage_that_is_not_on_the_host_stops_the_start() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    api.cluster.state.storages["local-zfs"].options["nodes"] = "pve2"

    status = ended(api, "POST", f"{STATUS}/start")

    assert status == "storage 'local-zfs' is not available on node 'pve1'"


def test_faults_keep_a_machine_from_booting_and_from_shutting_down() -> None:
    api = door()
    guest = create_linux(api)
    faults = api.world.faults
    faults.add(Fault(Point.BOOT, Effect.FAIL, {"vmid": "100"}, message="kvm: no"))
    faults.add(Fault(Point.SHUTDOWN, Effect.HANG, {"vmid": "100"}))

    assert ended(api, "POST", f"{STATUS}/start") == "kvm: no"
    start(api)
    assert ended(api, "POST", f"{STATUS}/shutdown", timeout=30) == (
        "VM quit/powerdown failed - got timeout"
    )

    assert guest.is_running


def test_a_saved_world_goes_on_in_the_middle_of_a_start() -> None:
    api = door()
    create_linux(api)
    upid = str(api.post(f"{STATUS}/start"))

    later = World(read_world(world_file(api.world.state)))
    later.settle()

    cluster = later.clusters[api.cluster.name]
    assert cluster.state.tasks[upid].exit_status == "OK"
    assert cluster.state.guests[100].is_running
    assert cluster.state.guests[100].inside["kind"] == "plain"


def test_power_needs_its_privilege() -> None:
    api = door()
    create(api)
    somebody = user(api, "VM.Audit")

    for action in ("start", "stop", "shutdown", "reboot", "reset", "suspend", "resume"):
        with pytest.raises(ApiError) as caught:
            somebody.post(f"{STATUS}/{action}")
        assert caught.value.message == "Permission check failed (/vms/100, VM.PowerMgmt)"
