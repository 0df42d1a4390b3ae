"""Partitions of system disks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from stockman_lab.talos.disk import EPHEMERAL, GRUB, SD_BOOT
from stockman_lab.talos.figures.partitions import Partition, system_partition, system_partitions
from stockman_lab.talos.machine import Machine

from lab.tests.talos.staged import staged

MIB = 1 << 20


@pytest.fixture
def node() -> Machine:
    return staged().talos.machines[0]


@pytest.mark.parametrize(
    ("bootloader", "labels"),
    [
        (GRUB, ["EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL"]),
        (SD_BOOT, ["EFI", "META", "STATE", "EPHEMERAL"]),
    ],
)
def test_the_bootloader_decides_the_layout(
    node: Machine, bootloader: str, labels: list[str]
) -> None:
    disk = node.disk
    assert disk is not None
    disk.view.contents["talos"]["bootloader"] = bootloader  # type: ignore[index]  # a mapping
    partitions = system_partitions(node)
    assert [partition.label for partition in partitions] == labels
    assert [partition.number for partition in partitions] == list(range(1, len(labels) + 1))
    for one, after in pairwise(partitions):
        assert one.start + one.size == after.start
    assert partitions[-1].start + partitions[-1].size == disk.view.size - MIB


def test_there_are_none_without_an_installation(node: Machine) -> None:
    node.state.system_disk = ""
    assert system_partitions(node) == []
    assert system_partition(node, EPHEMERAL) is None


def test_names_have_a_letter_where_the_disk_ends_with_a_digit() -> None:
    assert Partition("sda", 4, "X", 0, 1).name == "sda4"
    assert Partition("nvme0n1", 4, "X", 0, 1).path == "/dev/nvme0n1p4"
