"""Hardware in full: every disk has a storage, every machine something to boot from."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from stockman.model.hardware import Hardware
from stockman.model.names import Datastore
from stockman.model.origin import derived

H = TypeVar("H", bound=Hardware)

_SYSTEM_DISK = "scsi0"


def with_places(hardware: H, datastore: Datastore) -> H:
    """The hardware with storages and boot order filled in from the system disk."""
    beside = derived("the storage of the system disk")
    origins = dict(hardware.origins)
    efi, tpm, boot = hardware.efi_disk, hardware.tpm, hardware.boot_order
    if efi.datastore is None:
        efi = replace(efi, datastore=datastore, origins={**efi.origins, "datastore": beside})
    if tpm is not None and tpm.datastore is None:
        tpm = replace(tpm, datastore=datastore, origins={**tpm.origins, "datastore": beside})
    if not boot:
        boot = (_SYSTEM_DISK,)
        origins["boot_order"] = derived("the system disk")
    return replace(hardware, origins=origins, efi_disk=efi, tpm=tpm, boot_order=boot)
