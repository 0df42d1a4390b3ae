"""Where images of machines come from: the Image Factory, and registries of container images."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from stockman.model.names import SchematicId
from stockman.model.record import record
from stockman.model.version import Version


@record
class OfficialExtension:
    """A system extension as it is built for one version of Talos."""

    name: str
    ref: str
    digest: str


@record
class PublishedImage:
    """What a reference stands for right now."""

    digest: str
    """Of the index or the manifest; whoever keeps it cannot be given something else later."""
    architectures: tuple[str, ...]
    """Those of Linux, `amd64`. Empty: it is one manifest, which does not say."""


@record
class RemoteFile:
    """What a server says of a file without sending it."""

    size: int | None
    """Bytes. None: it does not say."""
    name: str
    """As it would be saved. Empty: it does not say."""


class ImageSource(Protocol):
    """Image Factory and registries, asked without credentials.

    `NotFound`: there is no such thing. `Busy`: come again after `retry_after`. `Unreachable`:
    nobody answered, or said that it cannot. `Denied`: not for us. `Rejected`: refused, or answered
    in a way that cannot be right.
    """

    async def register(self, schematic: str) -> SchematicId:
        """Tell the factory a schematic, as YAML; its id from then on. May be done again."""
        ...

    async def schematic(self, schematic: SchematicId) -> str:
        """The schematic of an id, as the factory writes it. `NotFound`: nobody registered it."""
        ...

    async def versions(self) -> tuple[Version, ...]:
        """Every Talos that the factory builds, in its order, releases to come included."""
        ...

    async def extensions(self, version: Version) -> tuple[OfficialExtension, ...]:
        """The extensions that the factory has for a Talos. `NotFound`: it does not build that."""
        ...

    async def digest(self, reference: str) -> str:
        """What a reference, `host/path:tag` or `host/path@digest`, stands for right now."""
        ...

    async def image(self, reference: str) -> PublishedImage:
        """The same with the architectures that there are; the content is checked."""
        ...

    async def file(self, url: str) -> RemoteFile:
        """What there is at a URL."""
        ...

    async def checksum(self, url: str) -> str:
        """What the server says that the content at a URL has to be, `sha256:...`.

        Empty: it tells none. The Enterprise edition of the Image Factory does, the public one not.
        """
        ...

    def read(self, url: str, *, sha256: str = "") -> AsyncIterator[bytes]:
        """The content at a URL, piece by piece, never all of it at once.

        `Rejected` at its end where it was shorter than announced, or is not what `sha256` says.
        """
        ...


class Registry(Protocol):
    """OCI registries, asked without credentials."""

    async def tags(self, repository: str) -> tuple[str, ...]:
        """Every tag of the repository at an `oci://host/path` address, in the registry's order.

        All tags or none: where a registry cannot be read to the end, this raises.
        `NotFound`: no such repository, or none that the public may see. `Denied`: the registry
        wants credentials. `Rejected`: it answers something else than a list of tags.
        `Unreachable`: no answer in time, too many requests, or a fault of its own.
        """
        ...
