"""Machines come up from disks and media, and go down again."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos import acting
from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import unmet_conditions
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.talos.staged import machine, stage_of, staged

MINORS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")


@pytest.mark.parametrize("version", MINORS)
def test_a_cluster_comes_up_in_every_minor(version: str) -> None:
    world = staged("single", version)
    result = machine(world)
    assert result.version == f"v{version}"
    assert stage_of(result) is Stage.RUNNING
    assert unmet_conditions(result) == []
    assert result.state.api == "secured"


def test_three_control_planes_form_one_etcd_of_voters() -> None:
    world = staged("three-node")
    (cluster,) = world.state.talos.etcd.values()
    assert sorted(member.name for member in cluster.members.values()) == [
        "talos-neo",
        "talos-niobe",
        "talos-trinity",
    ]
    assert not any(member.is_learner for member in cluster.members.values())
    assert cluster.leader in cluster.members


def test_one_control_plane_holds_the_shared_address() -> None:
    world = staged("three-node")
    holders = [
        machine
        for machine in world.talos.machines
        if any(address.is_vip for address in machine.state.network.addresses)
    ]
    assert len(holders) == 1


def test_a_machine_without_a_configuration_waits_in_maintenance() -> None:
    world = staged("single", bootstrap=False)
    cluster, vmid = _place(world)
    client = MemoryClient(world, cluster)
    node = client.cluster.state.guests[vmid].node
    client.put(f"/nodes/{node}/qemu/{vmid}/config", delete="ide2")
    _switch_on(world)
    result = machine(world)
    assert stage_of(result) is Stage.MAINTENANCE
    assert result.state.api == "maintenance"
    assert result.address != ""


def test_a_control_plane_stays_booting_until_somebody_bootstraps_it() -> None:
    world = staged("single", bootstrap=False)
    _switch_on(world)
    result = machine(world)
    assert stage_of(result) is Stage.BOOTING
    assert result.state.services["etcd"].state == "Preparing"
    assert {name for name, _ in unmet_conditions(result)} >= {"services", "nodeReady"}


def test_a_reboot_gives_a_new_boot_id_and_comes_back_ready() -> None:
    world = staged()
    result = machine(world)
    before = result.state.boot_id
    acting.reboot(result, "default")
    assert stage_of(result) is Stage.REBOOTING
    world.settle()
    assert result.state.boot_id != before
    assert result.state.by_kexec
    assert stage_of(result) is Stage.RUNNING
    assert unmet_conditions(result) == []


def test_a_power_cycle_goes_through_firmware() -> None:
    world = staged()
    result = machine(world)
    acting.reboot(result, "powercycle")
    world.settle()
    assert not result.state.by_kexec
    assert stage_of(result) is Stage.RUNNING


def test_kexec_works_while_firmware_does_not_boot() -> None:
    world = staged()
    result = machine(world)
    world.faults.add(Fault(Point.BOOT, Effect.HANG, times=None))
    acting.reboot(result, "default")
    world.settle()
    assert stage_of(result) is Stage.RUNNING
    acting.reboot(result, "powercycle")
    world.settle()
    assert stage_of(result) is Stage.OFF
    assert result.api is None


def test_a_shutdown_takes_the_power_of_the_virtual_machine() -> None:
    world = staged()
    result = machine(world)
    acting.shut_down(result, force=False)
    world.settle()
    guest = world.talos.guest(result)
    assert guest is not None
    assert not guest.is_running
    assert stage_of(result) is Stage.OFF


def test_the_button_of_a_virtual_machine_shuts_talos_down() -> None:
    world = staged()
    cluster, vmid = _place(world)
    client = MemoryClient(world, cluster)
    node = client.cluster.state.guests[vmid].node
    upid = client.post(f"/nodes/{node}/qemu/{vmid}/status/shutdown", timeout=180)
    assert client.done(upid) == "OK"
    assert machine(world).state.stage is Stage.OFF


def test_etcd_loses_its_quorum_with_two_of_three_and_finds_it_again() -> None:
    world = staged("three-node")
    for name in ("talos-neo", "talos-niobe"):
        result = machine(world, name)
        world.talos.power_off(result)
    world.settle()
    left = machine(world, "talos-trinity")
    assert not left.runs("etcd")
    (cluster,) = world.state.talos.etcd.values()
    assert cluster.leader == ""
    _switch_on(world)
    assert left.runs("etcd")
    assert cluster.leader != ""
    assert all(machine.state.stage is Stage.RUNNING for machine in world.talos.machines)


def test_a_world_goes_on_where_it_was_saved() -> None:
    world = staged("three-node")
    acting.reboot(machine(world, "talos-neo"), "default")
    world.advance(5.0)
    again = World(read_world(world_file(world.state)))
    for one in (world, again):
        one.settle()
    states = [
        [
            (machine.hostname, machine.state.boot_id, machine.state.stage)
            for machine in found.talos.machines
        ]
        for found in (world, again)
    ]
    assert states[0] == states[1]
    assert world_file(world.state) == world_file(again.state)


def _place(world: World) -> tuple[str, int]:
    for name, cluster in world.clusters.items():
        for vmid in cluster.state.guests:
            return name, vmid
    raise KeyError


def _switch_on(world: World) -> None:
    for name, cluster in world.clusters.items():
        client = MemoryClient(world, name)
        for vmid, guest in cluster.state.guests.items():
            if not guest.is_running:
                client.post(f"/nodes/{guest.node}/qemu/{vmid}/status/start")
    world.settle()
