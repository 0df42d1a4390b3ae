"""Upgrades, in both ways and in every minor."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.factory.schematics import post_schematic
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.extensions import extensions
from stockman_lab.talos.state import Stage

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, stage_of, staged
from stockman.talos.api.transport import GrpcCode
from stockman.talos.schematic import ImageSchematic

EMPTY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


def installer(version: str, platform: str = "nocloud", schematic: str = EMPTY) -> str:
    return f"factory.talos.dev/{platform}-installer/{schematic}:v{version}"


def test_the_old_way_installs_reboots_and_keeps_the_data() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    member = [one.id for one in Asking(world, result).call("EtcdMemberList").members]
    reply = Asking(world, result).call("Upgrade", image=installer("1.13.9"))
    assert reply.ack == "Upgrade request received"
    assert stage_of(result) is Stage.UPGRADING
    world.settle()
    assert result.version == "v1.13.9"
    assert stage_of(result) is Stage.RUNNING
    assert [one.id for one in Asking(world, result).call("EtcdMemberList").members] == member


def test_the_new_way_installs_and_waits_for_a_reboot() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    ask, image = Asking(world, result), installer("1.14.1")
    store = {"driver": "CRI", "namespace": "NS_SYSTEM"}
    pulled = ask.stream("machine.ImageService/Pull", containerd=store, image_ref=image)
    assert pulled[-1].name == image
    stream = ask.stream(
        "machine.LifecycleService/Upgrade", containerd=store, source={"image_name": image}
    )
    assert stream[-1].progress.exit_code == 0
    assert result.version == "v1.13.9"
    assert result.state.pending_install == "v1.14.1"
    ask.call("Reboot")
    world.settle()
    assert result.version == "v1.14.1"
    assert stage_of(result) is Stage.RUNNING


def test_the_new_way_needs_an_image_that_was_pulled() -> None:
    world = staged("single", "1.13.9")
    with pytest.raises(Refusal) as caught:
        Asking(world, machine(world)).stream(
            "machine.LifecycleService/Upgrade",
            containerd={"driver": "CRI", "namespace": "NS_SYSTEM"},
            source={"image_name": installer("1.14.1")},
        )
    assert "not found in containerd store" in caught.value.message


def test_old_machines_do_not_know_the_new_way() -> None:
    world = staged("single", "1.12.1")
    door = Asking(staged("single", "1.13.9"), machine(world)).door
    assert door.wire.minor == "1.12"
    with pytest.raises(Exception, match="LifecycleService"):
        Asking(world, machine(world)).stream("machine.LifecycleService/Upgrade")


@pytest.mark.parametrize(
    ("host", "target", "refusal"),
    [("1.11.5", "1.14.1", "too old"), ("1.14.1", "1.12.1", "too new"), ("1.12.1", "1.14.1", "")],
)
def test_installers_refuse_machines_out_of_their_range(
    host: str, target: str, refusal: str
) -> None:
    world = staged("single", host)
    result = machine(world)
    Asking(world, result).call("Upgrade", image=installer(target), force=True)
    world.settle()
    assert result.version == (f"v{host}" if refusal else f"v{target}")


def test_the_guard_wants_all_members_and_a_third_one() -> None:
    world = staged("three-node", "1.12.1")
    world.talos.power_off(machine(world, "talos-neo"))
    with pytest.raises(Refusal, match="is not healthy; all members must be healthy"):
        Asking(world, machine(world, "talos-trinity")).call("Upgrade", image=installer("1.13.9"))
    assert machine(world, "talos-trinity").state.stage is Stage.RUNNING


def test_force_goes_past_the_guard() -> None:
    world = staged("three-node", "1.12.1")
    world.talos.power_off(machine(world, "talos-neo"))
    result = machine(world, "talos-trinity")
    Asking(world, result).call("Upgrade", image=installer("1.13.9"), force=True)
    assert stage_of(result) is Stage.UPGRADING


def test_an_image_that_is_not_there_changes_nothing() -> None:
    world = staged("single", "1.12.1")
    with pytest.raises(Refusal, match="error validating installer image"):
        Asking(world, machine(world)).call("Upgrade", image=installer("1.13.77"))
    assert machine(world).state.stage is Stage.RUNNING
    assert not machine(world).state.installing


def test_a_metal_installer_takes_the_static_network_of_a_nocloud_machine() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    before = result.address
    Asking(world, result).call("Upgrade", image=installer("1.13.9", "metal"), force=True)
    world.settle()
    assert result.state.platform == "metal"
    assert result.address != before or result.config is not None


def test_extensions_are_those_of_the_image() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    schematic_id = post_schematic(
        world.factory, ImageSchematic(extensions=("siderolabs/iscsi-tools",))
    )
    Asking(world, result).call(
        "Upgrade", image=installer("1.13.9", schematic=str(schematic_id)), force=True
    )
    world.settle()
    assert extensions(result) == ["siderolabs/iscsi-tools"]
    assert "ext-iscsid" in result.state.services


def test_a_rollback_boots_what_was_there_before() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    ask = Asking(world, result)
    ask.call("Upgrade", image=installer("1.13.9"), force=True)
    world.settle()
    assert result.version == "v1.13.9"
    Asking(world, result).call("Rollback")
    world.settle()
    assert result.version == "v1.12.1"


def test_a_machine_that_never_was_upgraded_has_nothing_to_roll_back_to() -> None:
    world = staged("single", "1.12.1")
    with pytest.raises(Refusal):
        Asking(world, machine(world)).call("Rollback")


def test_a_version_that_does_not_come_up_gives_way_to_the_one_before() -> None:
    world = staged("single", "1.12.1")
    result = machine(world)
    world.faults.add(
        Fault(
            Point.TALOS_STEP,
            Effect.FAIL,
            {"step": "ephemeral", "sequence": "boot", "version": "v1.13.9"},
            times=None,
        )
    )
    Asking(world, result).call("Upgrade", image=installer("1.13.9"), force=True)
    world.settle()
    assert result.version == "v1.12.1"
    assert stage_of(result) is Stage.RUNNING


def test_a_second_upgrade_is_refused_while_one_is_under_way() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    result.state.installing = True
    with pytest.raises(Refusal) as caught:
        Asking(world, result).call("Upgrade", image=installer("1.14.1"))
    assert caught.value.code is GrpcCode.FAILED_PRECONDITION


@pytest.mark.parametrize("version", ["1.12.1", "1.13.9"])
def test_a_staged_upgrade_is_installed_by_the_next_boot(version: str) -> None:
    world = staged("single", version)
    result = machine(world)
    before = result.state.boot
    Asking(world, result).call("Upgrade", image=installer("1.14.1"), stage=True)
    disk = result.disk
    assert disk is not None
    assert disk.meta.keys() >= {"7", "8"}
    world.settle()
    assert result.version == "v1.14.1"
    assert result.state.boot == before + 2
    assert not disk.meta.keys() & {"7", "8"}


def test_a_staged_upgrade_that_fails_is_not_tried_again() -> None:
    world = staged("single", "1.13.9")
    result = machine(world)
    Asking(world, result).call("Upgrade", image=installer("1.14.1"), stage=True)
    world.faults.add(Fault(Point.REGISTRY, Effect.KILL, times=None))
    world.settle()
    assert (result.version, result.state.stage) == ("v1.13.9", Stage.RUNNING)
