"""The disk that Talos is installed on: by path, serial number, or what it is."""

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
"""What Talos adds to every selector of the old form."""


def install_disk_fields(machine: MachineInputs) -> Document:
    """The disk in the words of contracts up to 1.13."""
    node = machine.node
    if node.disk_selector is None:
        name = node.disk
        return {"disk": name} if name.startswith("/") else {"diskSelector": {"serial": name}}
    wanted = node.disk_selector
    fields = {
        "size": wanted.size,
        "model": wanted.model,
        "serial": wanted.serial,
        "modalias": wanted.modalias,
        "uuid": wanted.uuid,
        "wwid": wanted.wwid,
        "type": wanted.type,
        "busPath": wanted.bus_path,
    }
    return {"diskSelector": {name: value for name, value in fields.items() if value is not None}}


def install_match(machine: MachineInputs) -> str:
    """The disk in the words of contract 1.14: an expression in CEL."""
    node = machine.node
    if node.disk_selector is None:
        return disk_match(node.disk)
    return node.disk_selector.match or _selector_expression(node.disk_selector)


def disk_match(disk: str) -> str:
    """The expression for a disk that is named by its path or serial number."""
    field = "dev_path" if disk.startswith("/") else "serial"
    return f"disk.{field} == {_quote(disk)}"


def _selector_expression(wanted: DiskSelector) -> str:
    """What Talos itself makes of a selector of the old form."""
    terms = [f"disk.size {_size_comparison(wanted.size)}"] if wanted.size is not None else []
    for field in ("uuid", "wwid", "model", "serial", "modalias", "bus_path"):
        pattern = getattr(wanted, field)
        if pattern is not None:
            terms.append(f"glob({_quote(pattern)}, disk.{field})")
    if wanted.type is not None:
        terms.append(_TYPES[wanted.type])
    return " && ".join((*terms, *_REAL_DISKS))


def _size_comparison(size: str) -> str:
    sign = re.match(r"[<>=]*", size)
    return f"{(sign and sign[0]) or '=='} {byte_count(size)}u"


def byte_count(size: str) -> int:
    """The number of bytes that a size means; `GB` is a power of ten, `GiB` one of two."""
    found = _SIZE.fullmatch(size)
    if found is None:
        raise ValueError(f"{size} is not a size")
    _, whole, fraction, prefix, binary = found.groups()
    step: int = (1024 if binary else 1000) ** " kMGTP".index(prefix or " ")
    digits = fraction or ""
    return int(int(whole + digits) * step // 10 ** len(digits))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_KINDS = {"user": "UserVolumeConfig", "raw": "RawVolumeConfig", "swap": "SwapVolumeConfig"}


def volume_documents(machine: MachineInputs) -> Iterator[Document]:
    """Volumes of the system where something is said of them, then the others."""
    encrypted = machine.node.encrypt_disk
    if encrypted:
        yield new_document("VolumeConfig", name="STATE", encryption=_encryption({"tpm": {}}))
    ephemeral = new_document("VolumeConfig", name="EPHEMERAL")
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
    found = new_document(
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
