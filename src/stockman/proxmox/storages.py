"""Storages: configuration, usage and content."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import Literal

from stockman.model.names import Datastore, Vmid
from stockman.model.record import record

FileContent = Literal["iso", "vztmpl", "import"]
"""Kinds of content that can be uploaded over the API; snippets cannot."""


@record
class StorageState:
    """A storage on one host."""

    storage: Datastore
    kind: str
    content: frozenset[str]
    active: bool
    enabled: bool
    shared: bool
    size: int = 0
    """Bytes; 0 if the storage is not active."""
    used: int = 0
    free: int = 0


@record
class Volume:
    """A volume in a storage."""

    id: str
    """`local:import/talos.qcow2`."""
    content: str
    format: str
    size: int | None = None
    """Bytes. None: unknown."""
    used: int | None = None
    """Allocated bytes. None: unknown."""
    vmid: Vmid | None = None
    """The guest that owns it. None: no guest."""
    parent: str = ""
    """For a linked clone, the volume it is based on. Empty: none."""
    created: int | None = None
    """Unix time. None: unknown."""
    is_protected: bool = False
    notes: str = ""


@record
class NewVolume:
    """Parameters of a new volume."""

    vmid: Vmid
    """The guest that owns it, which need not exist."""
    name: str
    """`vm-9999-data`; on file storages with the extension of its format."""
    size: int
    """Bytes, a multiple of 1 KiB."""
    format: str | None = None
    """None: the default of the storage."""


@record
class Checksum:
    """The expected checksum of a file."""

    algorithm: Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
    digest: str


@record
class Download:
    """Parameters of a download by a host."""

    url: str
    content: FileContent
    name: str
    """Name in the storage."""
    checksum: Checksum | None = None
    """None: not checked."""
    compression: Literal["gz", "lzo", "zst", "bz2"] | None = None
    """How the file is compressed; only for `iso`. None: not compressed."""
    verify_certificates: bool = True


@record
class Upload:
    """A file to upload to a host."""

    content: FileContent
    name: str
    """Name in the storage; an existing file is overwritten."""
    size: int
    """Size in bytes; the content must have exactly this size."""
    read: Callable[[], AsyncIterable[bytes]]
    """Returns the content from its beginning."""
    checksum: Checksum | None = None
    """None: not checked."""


@record
class UrlMetadata:
    """Metadata of a file on a web server, as seen by a host."""

    name: str = ""
    size: int | None = None
    """Bytes. None: the server does not report it."""
    mime: str = ""
