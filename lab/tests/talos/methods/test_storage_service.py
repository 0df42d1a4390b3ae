"""Disks through the API, and emptying them."""

from __future__ import annotations

import pytest
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode

DISKS = "storage.StorageService/Disks"
WIPE = "storage.StorageService/BlockDeviceWipe"
SSD, CD = 1, 5


@pytest.fixture
def world() -> World:
    return staged()


@pytest.fixture
def node(world: World) -> Machine:
    return machine(world)


def test_disks_are_listed_with_their_kind(world: World, node: Machine) -> None:
    found = {one.device_name: one for one in Asking(world, node).call(DISKS).disks}
    system, drive = found["/dev/sda"], found["/dev/sr0"]
    assert system.system_disk
    assert not drive.system_disk
    assert (system.type, drive.type) == (SSD, CD)
    assert drive.readonly
    disk = node.disk
    assert disk is not None
    assert system.size == disk.view.size


@pytest.mark.parametrize(
    ("device", "code", "message"),
    [
        ("sdz", GrpcCode.NOT_FOUND, 'blockdevice "sdz" not found'),
        ("sr0", GrpcCode.FAILED_PRECONDITION, 'blockdevice "sr0" is a CD-ROM'),
        ("loop0", GrpcCode.FAILED_PRECONDITION, 'blockdevice "loop0" is read-only'),
        ("sda", GrpcCode.FAILED_PRECONDITION, 'blockdevice "sda" is in use by volume "EPHEMERAL"'),
        ("sda3", GrpcCode.FAILED_PRECONDITION, 'blockdevice "sda3" is in use by volume "STATE"'),
    ],
)
def test_what_is_in_use_is_not_wiped(
    world: World, node: Machine, device: str, code: GrpcCode, message: str
) -> None:
    with pytest.raises(Refusal) as caught:
        Asking(world, node).call(WIPE, devices=[{"device": device}])
    assert (caught.value.code, caught.value.message) == (code, message)


def test_what_is_mounted_is_not_wiped_even_if_volumes_are_not_looked_at(
    world: World, node: Machine
) -> None:
    with pytest.raises(Refusal, match='block device "sda" is mounted or in use'):
        Asking(world, node).call(WIPE, devices=[{"device": "sda", "skip_volume_check": True}])
    assert node.disk is not None
    assert node.disk.is_installed


def test_a_disk_that_nobody_uses_is_emptied(world: World, node: Machine) -> None:
    disk = node.disk
    assert disk is not None
    node.state.config = b""
    node.state.api = "maintenance"
    Asking(world, node).call(WIPE, devices=[{"device": "sda", "skip_volume_check": True}])
    assert node.disk is None
    assert not disk.view.is_bootable


def test_only_admins_wipe(world: World, node: Machine) -> None:
    with pytest.raises(Refusal, match="not authorized"):
        Asking(world, node, "os:operator").call(WIPE, devices=[{"device": "sda"}])
