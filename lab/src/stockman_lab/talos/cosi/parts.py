"""Structures of contents with both sides known: their keys in YAML, their fields on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from stockman.talos.wire.schema import ApiSchema, UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS
from stockman.talos.wire.values import Dynamic
from stockman_lab.talos.cosi.tables import Row, rows

PREFIX = "talos.resource.definitions."
_STRUCT = "google.protobuf.Struct"


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a structure."""

    row: Row
    field: Dynamic
    """Its description on the wire."""

    @property
    def message(self) -> str:
        """The full name of the message that it holds, or that its values hold. Empty: none."""
        message_type = self.value_field.message_type
        return "" if message_type is None else str(message_type.full_name)

    @property
    def shape(self) -> str:
        """The structure that it holds. Empty: none that is known."""
        name = self.message
        return name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""

    @property
    def is_map(self) -> bool:
        kind = self.field.message_type
        return kind is not None and bool(kind.GetOptions().map_entry)

    @property
    def is_list(self) -> bool:
        return bool(self.field.is_repeated) and not self.is_map

    @property
    def is_free(self) -> bool:
        """Whether it holds whatever somebody wrote."""
        return self.message == _STRUCT

    @property
    def value_field(self) -> Dynamic:
        """The description of a single value."""
        if self.is_map:
            return self.field.message_type.fields_by_name["value"]
        return self.field

    @property
    def enum(self) -> str:
        """The short name of the enum that its words are of. Empty: none."""
        enum_type = self.value_field.enum_type
        return "" if enum_type is None else str(enum_type.full_name).rpartition(".")[2]


@cache
def wire_for(shape: str, minor: str) -> ApiSchema:
    """The wire that describes a structure: a minor's own, or the newest where that has none."""
    try:
        load_api_schema(minor).message(PREFIX + shape)
    except UnknownApiName:
        return load_api_schema(MINORS[-1])
    return load_api_schema(minor)


@cache
def parts(shape: str, minor: str) -> tuple[Part, ...]:
    """The fields of a structure in a minor."""
    fields = wire_for(shape, minor).message(PREFIX + shape).DESCRIPTOR.fields_by_number
    return tuple(Part(row, fields[row.number]) for row in rows(shape, minor))
