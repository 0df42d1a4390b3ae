"""Tables of volumes and of claims to them."""

from __future__ import annotations

from stockman_lab.kube.schema.quantity import canonical
from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import (
    UNSET,
    Cells,
    Object,
    at,
    cells_of,
    created,
    is_being_deleted,
    listed,
    name_of,
    text,
)

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def _modes(found: list[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in found)


def _storage(found: object) -> str:
    return canonical(at(found, "storage") or "0")


def _class(content: Object) -> str:
    old = at(content, "metadata", "annotations", _OLD_CLASS)
    return text(content, "spec", "storageClassName") if old is None else old


def _phase(content: Object) -> str:
    return "Terminating" if is_being_deleted(content) else text(content, "status", "phase")


@cells_of("v1/persistentvolumes")
def volume_cells(volume: Object, ages: Ages) -> Cells:
    """Name, capacity, modes, policy, status, claim, classes, reason, age, mode."""
    claim = at(volume, "spec", "claimRef")
    return [
        name_of(volume),
        _storage(at(volume, "spec", "capacity")),
        _modes(listed(volume, "spec", "accessModes")),
        text(volume, "spec", "persistentVolumeReclaimPolicy"),
        _phase(volume),
        f"{text(claim, 'namespace')}/{text(claim, 'name')}" if claim else "",
        _class(volume),
        text(volume, "spec", "volumeAttributesClassName", default=UNSET),
        text(volume, "status", "reason"),
        ages.since(created(volume)),
        text(volume, "spec", "volumeMode", default=UNSET),
    ]


@cells_of("v1/persistentvolumeclaims")
def claim_cells(claim: Object, ages: Ages) -> Cells:
    """Name, status, volume, capacity, modes, classes, age, mode."""
    volume = text(claim, "spec", "volumeName")
    return [
        name_of(claim),
        _phase(claim),
        volume,
        _storage(at(claim, "status", "capacity")) if volume else "",
        _modes(listed(claim, "status", "accessModes")) if volume else "",
        _class(claim),
        text(claim, "spec", "volumeAttributesClassName", default=UNSET),
        ages.since(created(claim)),
        text(claim, "spec", "volumeMode", default=UNSET),
    ]
