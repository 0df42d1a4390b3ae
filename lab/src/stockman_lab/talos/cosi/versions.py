"""Versions of resources that others refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.collection import collection
from stockman_lab.talos.cosi.registry import kind_of
from stockman_lab.talos.cosi.tables import definitions

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


def version_of(machine: Machine, name: str, resource: str) -> int:
    """The version of a resource of a type, as it is now. 0: there is none."""
    definition, kind = definitions(machine.minor).get(name.lower()), kind_of(name)
    if definition is None or kind is None:
        return 0
    found = collection(machine, definition, kind).items.get(resource)
    return found.version if found is not None else 0
