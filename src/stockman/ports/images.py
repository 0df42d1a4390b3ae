"""Sources of images: the Image Factory, and registries of container images and charts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from stockman.model.names import SchematicId
from stockman.model.record import record
from stockman.model.version import Version


@record
class OfficialExtension:
    """A system extension for a version of Talos."""

    name: str
    ref: str
    digest: str


@record
class PublishedImage:
    """The image that a reference currently resolves to."""

    digest: str
    """Digest of the index or the manifest."""
    architectures: tuple[str, ...]
    """Linux architectures, such as `amd64`. Empty: a single manifest without this information."""


@record
class RemoteFile:
    """Metadata of a file on a server."""

    size: int | None
    """Bytes. None: unknown."""
    name: str
    """File name. Empty: unknown."""


class ImageSource(Protocol):
    """Image Factory and registries, used without credentials.

    Methods raise `NotFound`, `Busy` (retry after `retry_after`), `Unreachable`, `Denied` or
    `Rejected` (the request was rejected, or the reply is invalid).
    """

    async def register(self, schematic: str) -> SchematicId:
        """Register a schematic in YAML and return its id; may be repeated."""
        ...

    async def schematic(self, schematic: SchematicId) -> str:
        """Return a schematic by its id; raises `NotFound` if it is not registered."""
        ...

    async def versions(self) -> tuple[Version, ...]:
        """List the Talos versions that the factory builds, including pre-releases."""
        ...

    async def extensions(self, version: Version) -> tuple[OfficialExtension, ...]:
        """List the extensions for a Talos version; raises `NotFound`."""
        ...

    async def digest(self, reference: str) -> str:
        """Return the digest of a reference, `host/path:tag` or `host/path@digest`."""
        ...

    async def image(self, reference: str) -> PublishedImage:
        """Return digest and architectures of a reference; verifies the content."""
        ...

    async def file(self, url: str) -> RemoteFile:
        """Return the metadata of the file at a URL."""
        ...

    async def checksum(self, url: str) -> str:
        """Return the checksum that the server publishes for a URL, `sha256:...`.

        Empty: none. Only the Enterprise edition of the Image Factory publishes checksums.
        """
        ...

    def read(self, url: str, *, sha256: str = "") -> AsyncIterator[bytes]:
        """Yield the content at a URL in chunks.

        Raises `Rejected` at the end if the size or the checksum `sha256` does not match.
        """
        ...


class Registry(Protocol):
    """OCI registries, used without credentials."""

    async def tags(self, repository: str) -> tuple[str, ...]:
        """List all tags of the repository at an `oci://host/path` address, in their order.

        Raises `NotFound` (no such public repository), `Denied` (credentials required), `Rejected`
        (invalid reply) or `Unreachable` (no reply in time, too many requests, server error); an
        incomplete list is never returned.
        """
        ...
