"""Volumes as documents: those of the system, and those besides them."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.volumes import SystemVolume, Volume
from stockman.talos.machine.facts import Document, Machine, document
from stockman.talos.machine.install_disk import disk_match

_KINDS = {"user": "UserVolumeConfig", "raw": "RawVolumeConfig", "swap": "SwapVolumeConfig"}


def volume_documents(machine: Machine) -> Iterator[Document]:
    """Volumes of the system where something is said of them, then the others."""
    encrypted = machine.node.encrypt_disk
    if encrypted:
        yield document("VolumeConfig", name="STATE", encryption=_encryption({"tpm": {}}))
    ephemeral = document("VolumeConfig", name="EPHEMERAL")
    provisioning = _provisioning(machine.settings.ephemeral)
    if provisioning:
        ephemeral["provisioning"] = provisioning
    if encrypted:
        ephemeral["encryption"] = _encryption({"tpm": {}, "lockToState": True})
    if machine.styled(1, 14):
        ephemeral["mount"] = {"secure": True}
    if provisioning or encrypted or machine.styled(1, 14):
        yield ephemeral
    for volume in machine.settings.volumes:
        yield _volume(volume, locked=encrypted)


def _provisioning(wanted: SystemVolume) -> Document:
    found: Document = {}
    if wanted.disk_match is not None:
        found["diskSelector"] = {"match": wanted.disk_match}
    return found | _sizes(wanted)


def _volume(volume: Volume, *, locked: bool) -> Document:
    match = volume.disk_match or "!system_disk"
    if volume.disk is not None:
        match = disk_match(volume.disk)
    found = document(
        _KINDS[volume.kind],
        name=volume.name,
        provisioning={"diskSelector": {"match": match}, **_sizes(volume)},
    )
    if volume.kind == "user":
        found["filesystem"] = {"type": volume.filesystem}
    if volume.encryption != "none":
        key: Document = {"tpm": {}} if volume.encryption == "tpm" else {"nodeID": {}}
        found["encryption"] = _encryption(key | ({"lockToState": True} if locked else {}))
    return found


def _sizes(wanted: SystemVolume | Volume) -> Document:
    sizes = {"minSize": wanted.min_size, "maxSize": wanted.max_size}
    return {name: size for name, size in sizes.items() if size is not None}


def _encryption(key: Document) -> Document:
    return {"provider": "luks2", "keys": [{"slot": 0, **key}]}
