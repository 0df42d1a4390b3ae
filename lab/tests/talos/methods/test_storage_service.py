"""Disks through the API."""

from __future__ import annotations

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged

SSD, CD = 1, 5


def test_disks_are_listed_with_their_kind() -> None:
    world = staged()
    node = machine(world)
    reply = Asking(world, node).call("storage.StorageService/Disks")
    disks = {disk.device_name: disk for disk in reply.disks}
    system, drive = disks["/dev/sda"], disks["/dev/sr0"]
    assert system.system_disk
    assert not drive.system_disk
    assert (system.type, drive.type) == (SSD, CD)
    assert drive.readonly
    assert node.disk is not None
    assert system.size == node.disk.view.size
