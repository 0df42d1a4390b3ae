"""Descriptions of whole packages, as the protobuf library wants them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from stockman.talos.wire.tables import FIELD_FACTS, VALUE_FACTS, known_in, packages, rows_in

WELL_KNOWN = {
    "google.protobuf.Any": "google/protobuf/any.proto",
    "google.protobuf.Duration": "google/protobuf/duration.proto",
    "google.protobuf.Empty": "google/protobuf/empty.proto",
    "google.protobuf.Struct": "google/protobuf/struct.proto",
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
}
"""Messages of the library itself, and which of its files has them."""

_ONCE = FieldDescriptorProto.LABEL_OPTIONAL
_ONEOF = "oneof "
_SCALARS = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "fixed32": FieldDescriptorProto.TYPE_FIXED32,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "string": FieldDescriptorProto.TYPE_STRING,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}


def file_of(package: str) -> str:
    """The name of the file that describes a package."""
    return f"{package}.proto"


def package_of(full_name: str) -> str | None:
    """The package of a message, an enum or a service; None: there is no such one."""
    known = packages()
    name = full_name
    while name:
        name = name.rpartition(".")[0]
        if name in known:
            return name
    return None


def described(package: str, minor: str) -> FileDescriptorProto:
    """All messages and enums of a package in a minor."""
    file = FileDescriptorProto(name=file_of(package), package=package, syntax="proto3")
    messages: dict[str, DescriptorProto] = {}
    needed: set[str] = set()
    # A name sorts before those inside of it.
    for name, rows in sorted(known_in(package, "messages", minor)):
        outside, _, short = name.rpartition(".")
        inside = messages[outside].nested_type if outside in messages else file.message_type
        messages[name] = message = inside.add(name=short)
        needed.update(_fields(message, name, rows_in(rows, FIELD_FACTS, minor)))
    for name, rows in known_in(package, "enums", minor):
        outside, _, short = name.rpartition(".")
        enum = messages.get(outside, file).enum_type.add(name=short)
        for value, number, *_ in rows_in(rows, VALUE_FACTS, minor):
            enum.value.add(name=value, number=number)
    file.dependency.extend(sorted(_files(needed, package)))
    return file


def _fields(message: DescriptorProto, name: str, rows: Iterator[list[Any]]) -> Iterator[str]:
    """Describe fields; yields the types that they need."""
    oneofs: dict[str, int] = {}
    optional: list[FieldDescriptorProto] = []
    for one, number, kind, label, *_ in rows:
        field = message.field.add(name=one, number=number, label=_ONCE)
        if label == "map":
            yield from _entries(message, name, field, kind)
            continue
        if label == "repeated":
            field.label = FieldDescriptorProto.LABEL_REPEATED
        elif label == "optional":
            field.proto3_optional = True
            optional.append(field)
        elif label.startswith(_ONEOF):
            field.oneof_index = oneofs.setdefault(label.removeprefix(_ONEOF), len(oneofs))
        yield from _typed(field, kind)
    for oneof in oneofs:
        message.oneof_decl.add(name=oneof)
    for field in optional:
        # Such a field is alone in a oneof of its own, and those come after all others.
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{field.name}")


def _entries(
    message: DescriptorProto, name: str, field: FieldDescriptorProto, kinds: str
) -> Iterator[str]:
    """A map is a repeated message of a key and a value."""
    key, _, value = kinds.partition(",")
    short = f"{field.name.title().replace('_', '')}Entry"
    entry = message.nested_type.add(name=short)
    entry.options.map_entry = True
    yield from _typed(entry.field.add(name="key", number=1, label=_ONCE), key)
    yield from _typed(entry.field.add(name="value", number=2, label=_ONCE), value)
    field.label = FieldDescriptorProto.LABEL_REPEATED
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    field.type_name = f".{name}.{short}"


def _typed(field: FieldDescriptorProto, kind: str) -> Iterator[str]:
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        field.type = scalar
        return
    field.type = (
        FieldDescriptorProto.TYPE_ENUM if _is_enum(kind) else FieldDescriptorProto.TYPE_MESSAGE
    )
    field.type_name = f".{kind}"
    yield kind


@cache
def _is_enum(kind: str) -> bool:
    package = package_of(kind)
    return package is not None and kind in packages()[package].get("enums", {})


def _files(kinds: set[str], own: str) -> set[str]:
    found = set()
    for kind in kinds:
        if kind in WELL_KNOWN:
            found.add(WELL_KNOWN[kind])
        elif (package := package_of(kind)) is not None and package != own:
            found.add(file_of(package))
    return found
