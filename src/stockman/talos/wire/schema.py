"""The protobuf schema of the Talos API in one minor; the protobuf library is loaded on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from stockman.talos.wire.tables import (
    METHOD_FACTS,
    MINORS,
    matching_rows,
    package_entries,
    packages,
)

if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor
    from google.protobuf.message import Message

    MessageClass: TypeAlias = type[Message]

_LIBRARY = "google/protobuf/"


class UnknownApiName(LookupError):
    """A name does not exist in a minor."""


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

    A package is loaded when its first name is used, because most callers need few packages.
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
        """Return the class of a message."""
        message_class = self._messages.get(full_name)
        if message_class is None:
            message_class = self._messages[full_name] = self._create_class(full_name)
        return message_class

    def enum(self, full_name: str) -> Mapping[str, int]:
        """Return the numbers of an enum's values, by name."""
        numbers = self._enums.get(full_name)
        if numbers is None:
            self._describe(full_name)
            try:
                values = self._pool.FindEnumTypeByName(full_name).values
            except KeyError:
                raise UnknownApiName(full_name) from None
            numbers = self._enums[full_name] = {value.name: value.number for value in values}
        return numbers

    def service(self, name: str) -> Mapping[str, ApiMethod]:
        """Return the methods of a service, by name."""
        methods = self._services.get(name)
        if methods is None:
            methods = self._services[name] = self._methods(name)
        return methods

    def method(self, service: str, name: str) -> ApiMethod:
        """Return one method."""
        method = self.service(service).get(name)
        if method is None:
            raise UnknownApiName(f"{service}/{name}")
        return method

    def _create_class(self, full_name: str) -> MessageClass:
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
        from stockman.talos.wire.descriptors import WELL_KNOWN, package_file, package_of

        if full_name in WELL_KNOWN:
            self._add(WELL_KNOWN[full_name])
            return
        package = package_of(full_name)
        if package is None:
            raise UnknownApiName(full_name)
        self._add(package_file(package))

    def _add(self, name: str) -> None:
        """Add a file to the pool, after its dependencies."""
        if name in self._files:
            return
        self._files.add(name)
        if name.startswith(_LIBRARY):
            self._pool.AddSerializedFile(_library_file(name).serialized_pb)
            return

        from stockman.talos.wire.descriptors import describe_package

        file = describe_package(name.removesuffix(".proto"), self.minor)
        for needed in file.dependency:
            self._add(needed)
        self._pool.Add(file)


@cache
def load_api_schema(minor: str) -> ApiSchema:
    """Return the schema of a minor such as `1.13`; it is created once."""
    return ApiSchema(minor)


def _library_file(name: str) -> FileDescriptor:
    module = import_module(name.replace("/", ".").removesuffix(".proto") + "_pb2")
    descriptor: FileDescriptor = module.DESCRIPTOR
    return descriptor
