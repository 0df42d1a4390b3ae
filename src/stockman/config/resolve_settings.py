"""Settings of a machine: those of the cluster, and what the node and its class add."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from stockman.model.origin import Traced
from stockman.model.settings import MachineSettings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound=Traced)


def machine_settings(cluster: MachineSettings, node: MachineSettings) -> MachineSettings:
    """Both together: lists add up, names of the node win, as do values that it gives."""
    return _together(MachineSettings, cluster, node)


def _together(cls: type[T], lower: T, upper: T) -> T:
    values: dict[str, Any] = {}
    names = [one.name for one in fields(_dataclass(cls)) if one.name != "origins"]
    for name in names:
        below, above = getattr(lower, name), getattr(upper, name)
        if isinstance(below, dict):
            values[name] = {**below, **above}
        elif isinstance(below, tuple):
            values[name] = (*below, *(item for item in above if item not in below))
        elif isinstance(below, Traced) and isinstance(above, Traced):
            values[name] = _together(type(below), below, above)
        else:
            values[name] = above if name in upper.origins else below
    origins = {
        name: origin for name, origin in {**lower.origins, **upper.origins}.items() if name in names
    }
    return cls(origins=origins, **values)


def _dataclass(cls: type[Traced]) -> type[DataclassInstance]:
    return cls
