"""Disks: encryption of system volumes is a document; old extra disks stay where they are."""

from __future__ import annotations

from stockman.talos.migration.draft import Draft
from stockman.talos.migration.edit import Nature
from stockman.talos.migration.values import chosen, mapping

_ENCRYPTION = ("provider", "keys", "cipher", "keySize", "blockSize", "options")
TRIM_EVERY = "168h0m0s"


def encryption(draft: Draft) -> None:
    """System volumes: known as documents since before 1.11."""
    for section, volume in (("state", "STATE"), ("ephemeral", "EPHEMERAL")):
        reason = f"the encryption of {volume} is in its VolumeConfig"
        given = mapping(draft.take(f"machine.systemDiskEncryption.{section}", reason))
        if given:
            fields = {"encryption": chosen(given, *_ENCRYPTION)}
            draft.put("VolumeConfig", fields, reason, name=volume)
    if draft.section("machine.systemDiskEncryption") == {}:
        draft.take("machine.systemDiskEncryption", "it is empty", Nature.REMOVED)


def disks(draft: Draft) -> None:
    """Extra disks have no equal: a UserVolumeConfig would not find their partitions."""
    if draft.get("machine.disks"):
        draft.kept(
            "machine.disks",
            why="a UserVolumeConfig finds partitions by its own label, and would make new ones",
            fix="move the data to a UserVolumeConfig, or name the partition in an"
            " ExistingVolumeConfig",
        )


def volume_defaults(draft: Draft) -> None:
    """What contract 1.14 does with volumes unless told otherwise."""
    if not draft.adopt or draft.fragment:
        return
    for kind, name, fields, reason in (
        (
            "VolumeConfig",
            "EPHEMERAL",
            {"mount": {"secure": True}},
            "/var has no devices and set-user-ID programs",
        ),
        ("FilesystemTrimConfig", "", {"interval": TRIM_EVERY}, "free blocks are given back"),
        ("SecurityProfileConfig", "", {"workloadIsolation": True}, "workloads are kept apart"),
    ):
        draft.put(kind, fields, f"a default of 1.14: {reason}", name=name, nature=Nature.DEFAULT)
