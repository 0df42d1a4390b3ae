"""Who manages which fields of an object: `metadata.managedFields`, read and written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from stockman_lab.kube.objects import Object, Tree, metadata_of
from stockman_lab.kube.patching.field_set import FieldSet, read_field_set, written_field_set

APPLY, UPDATE = "Apply", "Update"


class Manager(NamedTuple):
    """Somebody who sets fields in one way."""

    name: str
    operation: str
    version: str
    """Of those who update; those who apply are the same in all versions."""
    subresource: str = ""

    @property
    def printed(self) -> str:
        """As a conflict names it."""
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.version}" if self.operation == UPDATE else text


def applier(name: str, subresource: str = "") -> Manager:
    return Manager(name, APPLY, "", subresource)


def updater(name: str, version: str, subresource: str = "") -> Manager:
    return Manager(name or "unknown", UPDATE, version, subresource)


@dataclass(slots=True)
class Managed:
    """All managers with their fields, and when each last changed any."""

    fields: dict[Manager, FieldSet] = field(default_factory=dict)
    versions: dict[Manager, str] = field(default_factory=dict)
    times: dict[Manager, str] = field(default_factory=dict)

    def put(self, manager: Manager, fields: FieldSet, version: str) -> None:
        """Let somebody manage these fields; none at all: nobody of that name is left."""
        if fields:
            self.fields[manager] = fields
            self.versions[manager] = version
        else:
            self.fields.pop(manager, None)


class BrokenManaged(Exception):
    """Entries that cannot be read."""


def read_managed(content: Object) -> Managed:
    """Managers of an object."""
    managed = Managed()
    entries = metadata_of(content).get("managedFields") or []
    for key, entry in enumerate(entries):
        operation = entry.get("operation")
        if operation not in (APPLY, UPDATE):
            raise BrokenManaged("operation must be `Apply` or `Update`")
        version = entry.get("apiVersion", "")
        if not version:
            raise BrokenManaged("apiVersion must not be empty")
        kind = entry.get("fieldsType", "")
        if kind != "FieldsV1":
            why = f'invalid fieldsType "{kind}"' if kind else "missing fieldsType"
            raise BrokenManaged(f"{why} in managed fields entry {key}")
        manager = Manager(
            entry.get("manager", ""),
            operation,
            version if operation == UPDATE else "",
            entry.get("subresource", ""),
        )
        managed.fields[manager] = read_field_set(entry.get("fieldsV1") or {})
        managed.versions[manager] = version
        if entry.get("time"):
            managed.times[manager] = entry["time"]
    return managed


def is_reset(content: Object) -> bool:
    """Whether somebody wants that nobody manages anything any longer."""
    entries: Tree = metadata_of(content).get("managedFields")
    return isinstance(entries, list) and (not entries or entries == [{}])


def write_managed(content: Object, managed: Managed) -> None:
    """Write managers into an object."""
    metadata = content.setdefault("metadata", {})
    metadata.pop("managedFields", None)
    entries = [_entry(managed, manager) for manager in managed.fields]
    if entries:
        entries.sort(key=_order)
        metadata["managedFields"] = entries


def _entry(managed: Managed, manager: Manager) -> Object:
    entry: Object = {"manager": manager.name} if manager.name else {}
    entry |= {"operation": manager.operation, "apiVersion": managed.versions[manager]}
    if manager in managed.times:
        entry["time"] = managed.times[manager]
    entry |= {"fieldsType": "FieldsV1", "fieldsV1": written_field_set(managed.fields[manager])}
    if manager.subresource:
        entry["subresource"] = manager.subresource
    return entry


def _order(entry: Object) -> tuple[str, str, str, str, str]:
    return (
        entry["operation"],
        entry.get("time", ""),
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )
