"""Defaults that follow from other keys: identities, settings of machines, storages and boot
order."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid5

from stockman.model.hardware import Hardware
from stockman.model.machine import MachineSettings
from stockman.model.names import Datastore, Mac
from stockman.model.origin import Traced, derivation

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_NAMESPACE = UUID("5ea2f6d0-7d3a-5f0e-9a57-3c6c0f5d1b60")
_PREFIX = "bc:24:11"


def machine_uuid(cluster: str, node: str) -> UUID:
    """Return the SMBIOS UUID of a node's VM."""
    return uuid5(_NAMESPACE, f"{cluster}/{node}")


def card_mac(cluster: str, node: str, card: int) -> Mac:
    """Return the MAC address of a network card of a node, with the prefix of Proxmox."""
    digest = hashlib.sha256(f"{cluster}/{node}/{card}".encode()).digest()
    return Mac(":".join([_PREFIX, *(f"{octet:02x}" for octet in digest[:3])]))


T = TypeVar("T")


def require(value: T | None) -> T:
    """Return a value that the rules guarantee to be set."""
    if value is None:
        raise ValueError("a required value is missing although no rule reported it")
    return value


H = TypeVar("H", bound=Hardware)

_SYSTEM_DISK = "scsi0"


def complete_hardware(hardware: H, datastore: Datastore) -> H:
    """Return the hardware with storages and boot order filled in from the system disk."""
    beside = derivation("the storage of the system disk")
    origins = dict(hardware.origins)
    efi, tpm, boot = hardware.efi_disk, hardware.tpm, hardware.boot_order
    if efi.datastore is None:
        efi = replace(efi, datastore=datastore, origins={**efi.origins, "datastore": beside})
    if tpm is not None and tpm.datastore is None:
        tpm = replace(tpm, datastore=datastore, origins={**tpm.origins, "datastore": beside})
    if not boot:
        boot = (_SYSTEM_DISK,)
        origins["boot_order"] = derivation("the system disk")
    return replace(hardware, origins=origins, efi_disk=efi, tpm=tpm, boot_order=boot)


TracedT = TypeVar("TracedT", bound=Traced)


def merge_settings(cluster: MachineSettings, node: MachineSettings) -> MachineSettings:
    """Merge settings: lists are appended; named entries and values of the node win."""
    return _merge_records(MachineSettings, cluster, node)


def _merge_records(cls: type[TracedT], lower: TracedT, upper: TracedT) -> TracedT:
    values: dict[str, Any] = {}
    names = [field.name for field in fields(_dataclass(cls)) if field.name != "origins"]
    for name in names:
        below, above = getattr(lower, name), getattr(upper, name)
        if isinstance(below, dict):
            values[name] = {**below, **above}
        elif isinstance(below, tuple):
            values[name] = (*below, *(item for item in above if item not in below))
        elif isinstance(below, Traced) and isinstance(above, Traced):
            values[name] = _merge_records(type(below), below, above)
        else:
            values[name] = above if name in upper.origins else below
    origins = {
        name: origin for name, origin in {**lower.origins, **upper.origins}.items() if name in names
    }
    return cls(origins=origins, **values)


def _dataclass(cls: type[Traced]) -> type[DataclassInstance]:
    return cls
