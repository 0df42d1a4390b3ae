"""The wire of one minor: its message classes, enums and services, made when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from stockman.talos.wire.tables import METHOD_FACTS, MINORS, known_in, packages, rows_in

if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor
    from google.protobuf.message import Message

    MessageClass: TypeAlias = type[Message]

_LIBRARY = "google/protobuf/"


class NotOnTheWire(LookupError):
    """A name that a minor does not have."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method of a service."""

    service: str
    name: str
    request: str
    """Full names of the messages."""
    response: str
    client_stream: bool
    server_stream: bool


class Wire:
    """Messages, enums and services of one minor.

    A package is described when the first of its names is asked for: most callers need few.
    """

    def __init__(self, minor: str) -> None:
        from google.protobuf.descriptor_pool import DescriptorPool

        if minor not in MINORS:
            raise NotOnTheWire(minor)
        self.minor = minor
        self._pool = DescriptorPool()
        self._files: set[str] = set()
        self._messages: dict[str, MessageClass] = {}
        self._enums: dict[str, dict[str, int]] = {}
        self._services: dict[str, dict[str, Method]] = {}

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
                raise NotOnTheWire(full_name) from None
            found = self._enums[full_name] = {one.name: one.number for one in values}
        return found

    def service(self, name: str) -> Mapping[str, Method]:
        """The methods of a service, by name."""
        found = self._services.get(name)
        if found is None:
            found = self._services[name] = self._methods(name)
        return found

    def method(self, service: str, name: str) -> Method:
        """One method."""
        found = self.service(service).get(name)
        if found is None:
            raise NotOnTheWire(f"{service}/{name}")
        return found

    def _made(self, full_name: str) -> MessageClass:
        from google.protobuf.message_factory import GetMessageClass

        self._describe(full_name)
        try:
            descriptor = self._pool.FindMessageTypeByName(full_name)
        except KeyError:
            raise NotOnTheWire(full_name) from None
        return GetMessageClass(descriptor)

    def _methods(self, service: str) -> dict[str, Method]:
        package = service.rpartition(".")[0]
        if package in packages():
            for name, rows in known_in(package, "services", self.minor):
                if name == service:
                    return {
                        row[0]: Method(
                            service, row[0], row[1], row[2], "c" in row[3], "s" in row[3]
                        )
                        for row in rows_in(rows, METHOD_FACTS, self.minor)
                    }
        raise NotOnTheWire(service)

    def _describe(self, full_name: str) -> None:
        from stockman.talos.wire.descriptors import WELL_KNOWN, file_of, package_of

        if full_name in WELL_KNOWN:
            self._add(WELL_KNOWN[full_name])
            return
        package = package_of(full_name)
        if package is None:
            raise NotOnTheWire(full_name)
        self._add(file_of(package))

    def _add(self, name: str) -> None:
        """Put a file into the pool, after those that it needs."""
        if name in self._files:
            return
        self._files.add(name)
        if name.startswith(_LIBRARY):
            self._pool.AddSerializedFile(_library(name).serialized_pb)
            return
        from stockman.talos.wire.descriptors import described

        file = described(name.removesuffix(".proto"), self.minor)
        for needed in file.dependency:
            self._add(needed)
        self._pool.Add(file)


@cache
def wire_of(minor: str) -> Wire:
    """The wire of a minor such as `1.13`, made once."""
    return Wire(minor)


def _library(name: str) -> FileDescriptor:
    module = import_module(name.replace("/", ".").removesuffix(".proto") + "_pb2")
    found: FileDescriptor = module.DESCRIPTOR
    return found
