"""Reset and what it takes away."""

from __future__ import annotations

import pytest
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.cosi.kinds.cluster import members
from stockman_lab.talos.disks import device_of
from stockman_lab.talos.state import Stage

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, stage_of, staged


def test_a_reset_of_the_system_disk_leaves_nothing_to_boot() -> None:
    world = staged()
    result = machine(world)
    Asking(world, result).call("Reset", reboot=True)
    assert stage_of(result) is Stage.RESETTING
    world.settle()
    assert stage_of(result) is Stage.OFF
    assert result.api is None


def test_a_reset_without_reboot_switches_off() -> None:
    world = staged()
    result = machine(world)
    Asking(world, result).call("Reset")
    world.settle()
    guest = world.talos.guest(result)
    assert guest is not None
    assert not guest.is_running


def test_a_machine_without_its_state_takes_its_configuration_from_the_platform_again() -> None:
    world = staged()
    result = machine(world)
    labels = [{"label": "STATE", "wipe": True}, {"label": "EPHEMERAL", "wipe": True}]
    Asking(world, result).call("Reset", reboot=True, system_partitions_to_wipe=labels)
    world.settle()
    assert result.state.config
    assert stage_of(result) is Stage.BOOTING
    assert result.state.services["etcd"].state == "Preparing"


def test_a_graceful_reset_leaves_etcd() -> None:
    world = staged("three-node")
    result = machine(world, "talos-neo")
    Asking(world, result).call("Reset", graceful=True, reboot=False)
    world.settle()
    (cluster,) = world.state.talos.etcd.values()
    assert len(cluster.members) == 2


@pytest.mark.parametrize("graceful", [True, False])
def test_a_machine_that_is_reset_takes_leave_of_discovery(graceful: bool) -> None:
    world = staged("three-node")
    found, other = machine(world, "talos-neo"), machine(world, "talos-niobe")
    assert found in world.talos.members(other)

    Asking(world, found).call("Reset", graceful=graceful, reboot=False)
    world.settle()

    assert found not in world.talos.members(other)
    assert "talos-neo" not in members(other)


def test_a_machine_that_boots_after_a_reset_is_found_again() -> None:
    world = staged("three-node")
    found, other = machine(world, "talos-neo"), machine(world, "talos-niobe")
    labels = [{"label": "EPHEMERAL", "wipe": True}]

    Asking(world, found).call("Reset", reboot=True, system_partitions_to_wipe=labels)
    world.settle()

    assert found in world.talos.members(other)


def test_a_reset_by_force_leaves_a_member_behind() -> None:
    world = staged("three-node")
    Asking(world, machine(world, "talos-neo")).call("Reset", graceful=False, reboot=False)
    world.settle()
    (cluster,) = world.state.talos.etcd.values()
    assert len(cluster.members) == 3


def test_the_system_disk_is_no_user_disk() -> None:
    world = staged()
    result = machine(world)
    path = device_of(result.view, result.state.system_disk)
    with pytest.raises(Refusal, match="system disk"):
        Asking(world, result).call("Reset", user_disks_to_wipe=[path])
    with pytest.raises(Refusal, match="USER_DISKS doesn't support"):
        Asking(world, result).call(
            "Reset", mode="USER_DISKS", system_partitions_to_wipe=[{"label": "META", "wipe": True}]
        )
    with pytest.raises(Refusal, match="runtime/NOTHING@undefined"):
        Asking(world, result).call(
            "Reset", system_partitions_to_wipe=[{"label": "NOTHING", "wipe": True}]
        )


def test_stages_are_told_in_order() -> None:
    world = staged()
    result = machine(world)
    actor = Asking(world, result).call("Reboot").actor_id
    events = [event for event in result.state.events if event.actor == actor]
    assert events[0].kind == "machine.SequenceEvent"
    assert events[0].content == {"sequence": "reboot", "action": 1}
    seen = []
    while world.timeline.next_at is not None:
        world.timeline.run_until(world.timeline.next_at)
        seen.append(result.state.stage)
    assert list(dict.fromkeys(seen)) == [Stage.REBOOTING, Stage.BOOTING, Stage.RUNNING]


def test_ids_of_events_grow_over_a_reboot() -> None:
    world = staged()
    result = machine(world)
    before = [event.id for event in result.state.events]
    Asking(world, result).call("Reboot")
    world.settle()
    after = [event.id for event in result.state.events]
    assert before == sorted(before)
    assert after == sorted(after)
    assert after[0] > before[-1]
    assert all(len(one) == 20 for one in after)
