"""Protobuf descriptions of the packages of the Talos API."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from stockman.talos.wire.tables import (
    FIELD_FACTS,
    VALUE_FACTS,
    matching_rows,
    package_entries,
    packages,
)

WELL_KNOWN = {
    "google.protobuf.Any": "google/protobuf/any.proto",
    "google.protobuf.Duration": "google/protobuf/duration.proto",
    "google.protobuf.Empty": "google/protobuf/empty.proto",
    "google.protobuf.Struct": "google/protobuf/struct.proto",
    "google.protobuf.Timestamp": "google/protobuf/timestamp.proto",
}
"""Messages of the protobuf library, and its files that define them."""

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


def package_file(package: str) -> str:
    """Return the file name of a package."""
    return f"{package}.proto"


def package_of(full_name: str) -> str | None:
    """Return the package of a message, an enum or a service; None: unknown name."""
    known = packages()
    name = full_name
    while name:
        name = name.rpartition(".")[0]
        if name in known:
            return name
    return None


def describe_package(package: str, minor: str) -> FileDescriptorProto:
    """Return a description of all messages and enums of a package in a minor."""
    file = FileDescriptorProto(name=package_file(package), package=package, syntax="proto3")
    messages: dict[str, DescriptorProto] = {}
    needed: set[str] = set()
    # A name sorts before the names nested in it.
    for name, rows in sorted(package_entries(package, "messages", minor)):
        outside, _, short = name.rpartition(".")
        inside = messages[outside].nested_type if outside in messages else file.message_type
        messages[name] = message = inside.add(name=short)
        needed.update(_fields(message, name, matching_rows(rows, FIELD_FACTS, minor)))
    for name, rows in package_entries(package, "enums", minor):
        outside, _, short = name.rpartition(".")
        enum = messages.get(outside, file).enum_type.add(name=short)
        for value, number, *_ in matching_rows(rows, VALUE_FACTS, minor):
            enum.value.add(name=value, number=number)
    file.dependency.extend(sorted(_package_files(needed, package)))
    return file


def _fields(message: DescriptorProto, name: str, rows: Iterator[list[Any]]) -> Iterator[str]:
    """Add fields to a message; yields the types that they need."""
    oneofs: dict[str, int] = {}
    optional: list[FieldDescriptorProto] = []
    for field_name, number, kind, label, *_ in rows:
        field = message.field.add(name=field_name, number=number, label=_ONCE)
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
        yield from _set_type(field, kind)
    for oneof in oneofs:
        message.oneof_decl.add(name=oneof)
    for field in optional:
        # Each of these needs its own oneof, after all others.
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{field.name}")


def _entries(
    message: DescriptorProto, name: str, field: FieldDescriptorProto, kinds: str
) -> Iterator[str]:
    """Add a map field: a repeated message of a key and a value."""
    key, _, value = kinds.partition(",")
    short = f"{field.name.title().replace('_', '')}Entry"
    entry = message.nested_type.add(name=short)
    entry.options.map_entry = True
    yield from _set_type(entry.field.add(name="key", number=1, label=_ONCE), key)
    yield from _set_type(entry.field.add(name="value", number=2, label=_ONCE), value)
    field.label = FieldDescriptorProto.LABEL_REPEATED
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    field.type_name = f".{name}.{short}"


def _set_type(field: FieldDescriptorProto, kind: str) -> Iterator[str]:
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


def _package_files(kinds: set[str], own: str) -> set[str]:
    paths = set()
    for kind in kinds:
        if kind in WELL_KNOWN:
            paths.add(WELL_KNOWN[kind])
        elif (package := package_of(kind)) is not None and package != own:
            paths.add(package_file(package))
    return paths
