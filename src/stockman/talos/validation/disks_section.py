"""Disks, registries and encryption in the `machine` section."""

from __future__ import annotations

from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report


def check_disks(report: Report, machine: Part) -> None:
    for disk in machine["disks"].items:
        if not disk.present:
            _null(report, disk)
            continue
        partitions = disk["partitions"].items
        for partition in partitions[:-1]:
            if not partition.present or partition["size"].text not in ("", "0", "0 B"):
                continue
            report.error(
                "machine.partition",
                partition,
                f"{partition.name} has no size, and is not the last",
                why="a partition without a size takes the rest of the disk",
                fix="give it a size, or write it last",
            )


def _null(report: Report, part: Part) -> None:
    report.error(
        "machine.null",
        part,
        f"{part.name} is null",
        why="Talos looks into it, and finds nothing",
        fix="write what belongs there, or remove it",
    )


def check_registries(report: Report, machine: Part) -> None:
    for section in ("config", "mirrors"):
        for entry in machine.down(f"registries.{section}").entries.values():
            if not entry.present:
                _null(report, entry)


def check_encryption(report: Report, machine: Part) -> None:
    """Encryption of the system's own partitions, as it was written before volumes."""
    for label in ("state", "ephemeral"):
        system = machine.down(f"systemDiskEncryption.{label}")
        if system.present:
            check_keys(report, system, system["keys"])


def check_keys(report: Report, parent: Part, keys: Part) -> None:
    """Keys of an encrypted partition: one at least, each in a slot of its own, each of a kind."""
    if keys.is_empty:
        report.error(
            "machine.encryption",
            keys,
            f"{parent.name} has no key",
            why="a partition is encrypted with one key or more",
            fix="write a key, for example `nodeID: {}` in slot 0",
        )
    taken: set[int] = set()
    for key in keys.items:
        slot = key["slot"]
        if slot.number in taken:
            report.error(
                "machine.encryption",
                slot if slot.present else key,
                f"{key.name} is in slot {slot.number} like another",
                why="a slot holds one key",
                fix="number the slots from 0",
            )
        taken.add(slot.number)
        if not any(key[kind].present for kind in ("static", "nodeID", "kms", "tpm")):
            report.error(
                "machine.encryption",
                key,
                f"{key.name} is of no kind",
                why="a key is static, from the nodeID, from a kms or from the tpm",
                fix="write one of the four, for example `nodeID: {}`",
            )
