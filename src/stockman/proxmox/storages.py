"""Storages: where they are, how full they are, what lies in them."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import field
from typing import Literal, Protocol

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.tasks import TaskRef

FileContent = Literal["iso", "vztmpl", "import"]
"""What can be put into a storage over the API; snippets cannot."""


@record
class StorageDefinition:
    """A storage as the cluster's configuration defines it."""

    storage: Datastore
    kind: str
    """`zfspool`, `dir`."""
    content: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    """Empty: all."""
    shared: bool = False
    disabled: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    """What depends on its kind: `pool`, `path`, `server`."""


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
    """Bytes; 0 where it is not active."""
    used: int = 0
    free: int = 0


@record
class Volume:
    """One volume in a storage."""

    id: str
    """`local:import/talos.qcow2`."""
    content: str
    format: str
    size: int | None = None
    """Bytes. None: not told."""
    used: int | None = None
    """Bytes that it takes up. None: not told."""
    vmid: Vmid | None = None
    """Its owner. None: nobody."""
    parent: str = ""
    """Volume that it is a linked clone of. Empty: none."""
    created: int | None = None
    """Seconds since 1970. None: not told."""
    is_protected: bool = False
    notes: str = ""


@record
class NewVolume:
    """A volume to be made."""

    vmid: Vmid
    """Its owner, who need not exist."""
    name: str
    """`vm-9999-data`; on file storages with the extension of its format."""
    size: int
    """Bytes, in whole KiB."""
    format: str | None = None
    """None: the usual one of the storage."""


@record
class Checksum:
    """How the content of a file is known to be right."""

    algorithm: Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
    digest: str


@record
class Download:
    """A file that a host fetches by itself."""

    url: str
    content: FileContent
    name: str
    """Name in the storage."""
    checksum: Checksum | None = None
    """None: not checked."""
    compression: Literal["gz", "lzo", "zst", "bz2"] | None = None
    """How it is packed; only for `iso`. None: not."""
    verify_certificates: bool = True


@record
class Upload:
    """A file that is sent to a host."""

    content: FileContent
    name: str
    """Name in the storage; one that is there already is overwritten."""
    size: int
    """Bytes; exactly so many are read."""
    read: Callable[[], AsyncIterable[bytes]]
    """Begins to read the file."""
    checksum: Checksum | None = None
    """None: not checked."""


@record
class UrlMetadata:
    """What a host learns of a file on a web server without fetching it."""

    name: str = ""
    size: int | None = None
    """Bytes. None: the server does not tell."""
    mime: str = ""


class Storages(Protocol):
    """The storages of a cluster."""

    async def storage_entries(self) -> tuple[StorageDefinition, ...]:
        """Storages as they are configured."""
        ...

    async def create_storage(
        self, storage: Datastore, kind: str, settings: Mapping[str, str | Secret]
    ) -> None:
        """Configure a storage."""
        ...

    async def update_storage(
        self, storage: Datastore, settings: Mapping[str, str | Secret], delete: tuple[str, ...] = ()
    ) -> None:
        """Change how a storage is configured."""
        ...

    async def delete_storage(self, storage: Datastore) -> None:
        """Forget a storage; what lies in it stays."""
        ...

    async def storages(self, host: HostName) -> tuple[StorageState, ...]:
        """Storages that a host has, with their space."""
        ...

    async def storage_state(self, host: HostName, storage: Datastore) -> StorageState:
        """One storage on a host. `NotFound` where the host does not have it."""
        ...

    async def volumes(
        self,
        host: HostName,
        storage: Datastore,
        *,
        content: str | None = None,
        vmid: Vmid | None = None,
    ) -> tuple[Volume, ...]:
        """What lies in a storage, all of it or only of one kind or owner."""
        ...

    async def allocate_volume(self, host: HostName, storage: Datastore, volume: NewVolume) -> str:
        """Make an empty volume; returns its id."""
        ...

    async def delete_volume(self, host: HostName, volume: str) -> TaskRef | None:
        """Delete a volume by its id. None: done already."""
        ...

    async def url_facts(self, host: HostName, url: str) -> UrlMetadata:
        """What a host learns of a file on a web server."""
        ...

    async def download(self, host: HostName, storage: Datastore, file: Download) -> TaskRef:
        """Let a host fetch a file; the task fails where another file has the name."""
        ...

    async def upload(self, host: HostName, storage: Datastore, file: Upload) -> TaskRef:
        """Send a file. The task may run on another host than the one named."""
        ...
