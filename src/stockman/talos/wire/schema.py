"""Tables of the Talos API: which messages, enums and services there are, and in which minors.

A row is a name, its facts, and where that is not always so, the minors it holds in (`1.12-1.14`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from stockman.model.package_file import read_package_bytes

MINORS = ("1.11", "1.12", "1.13", "1.14")

FIELD_FACTS = 4
"""Name, number, type, label."""
VALUE_FACTS = 2
"""Name, number."""
METHOD_FACTS = 4
"""Name, request, response, which sides stream (`c`, `s`)."""


@cache
def packages() -> dict[str, dict[str, dict[str, Any]]]:
    """Package -> messages, enums or services -> full name -> minors and rows."""
    text = read_package_bytes("stockman.talos.wire", "tables.json")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return found


def package_entries(package: str, kind: str, minor: str) -> Iterator[tuple[str, list[list[Any]]]]:
    """What a package has in a minor, with all its rows."""
    for name, (span, rows) in packages()[package].get(kind, {}).items():
        if minor_matches(span, minor):
            yield name, rows


def matching_rows(rows: list[list[Any]], facts: int, minor: str) -> Iterator[list[Any]]:
    """Those rows that hold in a minor."""
    for row in rows:
        if len(row) == facts or minor_matches(row[facts], minor):
            yield row


def minor_matches(spans: str, minor: str) -> bool:
    """Whether a minor is one of those that are written down; an empty text means all."""
    if not spans:
        return True
    place = MINORS.index(minor)
    for span in spans.split():
        first, _, last = span.partition("-")
        if MINORS.index(first) <= place <= MINORS.index(last):
            return True
    return False


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


def package_file(package: str) -> str:
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


def describe_package(package: str, minor: str) -> FileDescriptorProto:
    """All messages and enums of a package in a minor."""
    file = FileDescriptorProto(name=package_file(package), package=package, syntax="proto3")
    messages: dict[str, DescriptorProto] = {}
    needed: set[str] = set()
    # A name sorts before those inside of it.
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
        yield from _set_type(field, kind)
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
    found = set()
    for kind in kinds:
        if kind in WELL_KNOWN:
            found.add(WELL_KNOWN[kind])
        elif (package := package_of(kind)) is not None and package != own:
            found.add(package_file(package))
    return found


if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor
    from google.protobuf.message import Message

    MessageClass: TypeAlias = type[Message]

_LIBRARY = "google/protobuf/"


class UnknownApiName(LookupError):
    """A name that a minor does not have."""


@dataclass(frozen=True, slots=True)
class ApiMethod:
    """One method of a service."""

    service: str
    name: str
    request: str
    """Full names of the messages."""
    response: str
    client_stream: bool
    server_stream: bool


class ApiSchema:
    """Messages, enums and services of one minor.

    A package is described when the first of its names is asked for: most callers need few.
    """

    def __init__(self, minor: str) -> None:
        from google.protobuf.descriptor_pool import DescriptorPool

        if minor not in MINORS:
            raise UnknownApiName(minor)
        self.minor = minor
        self._pool = DescriptorPool()
        self._files: set[str] = set()
        self._messages: dict[str, MessageClass] = {}
        self._enums: dict[str, dict[str, int]] = {}
        self._services: dict[str, dict[str, ApiMethod]] = {}

    def message(self, full_name: str) -> MessageClass:
        """The class of a message."""
        found = self._messages.get(full_name)
        if found is None:
            found = self._messages[full_name] = self._made(full_name)
        return found

    def enum(self, full_name: str) -> Mapping[str, int]:
        """The numbers of an enum's values, by name."""
        found = self._enums.get(full_name)
        if found is None:
            self._describe(full_name)
            try:
                values = self._pool.FindEnumTypeByName(full_name).values
            except KeyError:
                raise UnknownApiName(full_name) from None
            found = self._enums[full_name] = {one.name: one.number for one in values}
        return found

    def service(self, name: str) -> Mapping[str, ApiMethod]:
        """The methods of a service, by name."""
        found = self._services.get(name)
        if found is None:
            found = self._services[name] = self._methods(name)
        return found

    def method(self, service: str, name: str) -> ApiMethod:
        """One method."""
        found = self.service(service).get(name)
        if found is None:
            raise UnknownApiName(f"{service}/{name}")
        return found

    def _made(self, full_name: str) -> MessageClass:
        from google.protobuf.message_factory import GetMessageClass

        self._describe(full_name)
        try:
            descriptor = self._pool.FindMessageTypeByName(full_name)
        except KeyError:
            raise UnknownApiName(full_name) from None
        return GetMessageClass(descriptor)

    def _methods(self, service: str) -> dict[str, ApiMethod]:
        package = service.rpartition(".")[0]
        if package in packages():
            for name, rows in package_entries(package, "services", self.minor):
                if name == service:
                    return {
                        row[0]: ApiMethod(
                            service, row[0], row[1], row[2], "c" in row[3], "s" in row[3]
                        )
                        for row in matching_rows(rows, METHOD_FACTS, self.minor)
                    }
        raise UnknownApiName(service)

    def _describe(self, full_name: str) -> None:

        if full_name in WELL_KNOWN:
            self._add(WELL_KNOWN[full_name])
            return
        package = package_of(full_name)
        if package is None:
            raise UnknownApiName(full_name)
        self._add(package_file(package))

    def _add(self, name: str) -> None:
        """Put a file into the pool, after those that it needs."""
        if name in self._files:
            return
        self._files.add(name)
        if name.startswith(_LIBRARY):
            self._pool.AddSerializedFile(_library_file(name).serialized_pb)
            return

        file = describe_package(name.removesuffix(".proto"), self.minor)
        for needed in file.dependency:
            self._add(needed)
        self._pool.Add(file)


@cache
def load_api_schema(minor: str) -> ApiSchema:
    """The wire of a minor such as `1.13`, made once."""
    return ApiSchema(minor)


def _library_file(name: str) -> FileDescriptor:
    module = import_module(name.replace("/", ".").removesuffix(".proto") + "_pb2")
    found: FileDescriptor = module.DESCRIPTOR
    return found
