"""Disks and volumes of a machine: the installation disk and volume documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from stockman.model.machine import DiskSelector, SystemVolume, Volume
from stockman.model.pattern import pattern
from stockman.talos.machine.inputs import Document, MachineInputs, new_document

_TYPES = {
    "nvme": 'disk.transport == "nvme"',
    "sd": 'disk.transport == "mmc"',
    "hdd": "disk.rotational",
    "ssd": "!disk.rotational",
}
_SIZE = pattern(r"(>=|<=|==|>|<)? ?(\d+)(?:\.(\d+))? ?([kMGTP]?)(i?)B")
_REAL_DISKS = ('disk.transport != ""', "!disk.readonly", "!disk.cdrom")
"""Conditions that Talos adds to every selector of the old form."""


def install_disk_fields(machine: MachineInputs) -> Document:
    """Return the installation disk in the form of contracts up to 1.13."""
    node = machine.node
    if node.disk_selector is None:
        name = node.disk
        return {"disk": name} if name.startswith("/") else {"diskSelector": {"serial": name}}
    selector = node.disk_selector
    fields = {
        "size": selector.size,
        "model": selector.model,
        "serial": selector.serial,
        "modalias": selector.modalias,
        "uuid": selector.uuid,
        "wwid": selector.wwid,
        "type": selector.type,
        "busPath": selector.bus_path,
    }
    return {"diskSelector": {name: value for name, value in fields.items() if value is not None}}


def install_match(machine: MachineInputs) -> str:
    """Return the installation disk as a CEL expression, for contract 1.14."""
    node = machine.node
    if node.disk_selector is None:
        return disk_match(node.disk)
    return node.disk_selector.match or _selector_expression(node.disk_selector)


def disk_match(disk: str) -> str:
    """Return the expression for a disk by its path or serial number."""
    field = "dev_path" if disk.startswith("/") else "serial"
    return f"disk.{field} == {_quote(disk)}"


def _selector_expression(selector: DiskSelector) -> str:
    """Convert an old selector to an expression as Talos does."""
    terms = [f"disk.size {_size_comparison(selector.size)}"] if selector.size is not None else []
    for field in ("uuid", "wwid", "model", "serial", "modalias", "bus_path"):
        pattern = getattr(selector, field)
        if pattern is not None:
            terms.append(f"glob({_quote(pattern)}, disk.{field})")
    if selector.type is not None:
        terms.append(_TYPES[selector.type])
    return " && ".join((*terms, *_REAL_DISKS))


def _size_comparison(size: str) -> str:
    sign = re.match(r"[<>=]*", size)
    return f"{(sign and sign[0]) or '=='} {byte_count(size)}u"


def byte_count(size: str) -> int:
    """Return a size in bytes; `GB` is a power of ten, `GiB` a power of two."""
    match = _SIZE.fullmatch(size)
    if match is None:
        raise ValueError(f"{size} is not a size")
    _, integer, fraction, prefix, binary = match.groups()
    step: int = (1024 if binary else 1000) ** " kMGTP".index(prefix or " ")
    digits = fraction or ""
    return int(int(integer + digits) * step // 10 ** len(digits))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_KINDS = {"user": "UserVolumeConfig", "raw": "RawVolumeConfig", "swap": "SwapVolumeConfig"}


def volume_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield documents of system volumes with settings, then of the other volumes."""
    encrypted = machine.node.encrypt_disk
    if encrypted:
        yield new_document("VolumeConfig", name="STATE", encryption=_encryption({"tpm": {}}))
    ephemeral = new_document("VolumeConfig", name="EPHEMERAL")
    provisioning = _provisioning(machine.settings.ephemeral)
    if provisioning:
        ephemeral["provisioning"] = provisioning
    if encrypted:
        ephemeral["encryption"] = _encryption({"tpm": {}, "lockToState": True})
    if machine.contract_at_least(1, 14):
        ephemeral["mount"] = {"secure": True}
    if provisioning or encrypted or machine.contract_at_least(1, 14):
        yield ephemeral
    for volume in machine.settings.volumes:
        yield _volume(volume, locked=encrypted)


def _provisioning(volume: SystemVolume) -> Document:
    fields: Document = {}
    if volume.disk_match is not None:
        fields["diskSelector"] = {"match": volume.disk_match}
    return fields | _sizes(volume)


def _volume(volume: Volume, *, locked: bool) -> Document:
    match = volume.disk_match or "!system_disk"
    if volume.disk is not None:
        match = disk_match(volume.disk)
    document = new_document(
        _KINDS[volume.kind],
        name=volume.name,
        provisioning={"diskSelector": {"match": match}, **_sizes(volume)},
    )
    if volume.kind == "user":
        document["filesystem"] = {"type": volume.filesystem}
    if volume.encryption != "none":
        key: Document = {"tpm": {}} if volume.encryption == "tpm" else {"nodeID": {}}
        document["encryption"] = _encryption(key | ({"lockToState": True} if locked else {}))
    return document


def _sizes(volume: SystemVolume | Volume) -> Document:
    sizes = {"minSize": volume.min_size, "maxSize": volume.max_size}
    return {name: size for name, size in sizes.items() if size is not None}


def _encryption(key: Document) -> Document:
    return {"provider": "luks2", "keys": [{"slot": 0, **key}]}
