"""Calls on storages."""

from __future__ import annotations

from collections import defaultdict

from stockman.model.errors import Rejected
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problem
from stockman.model.proxmox_values import VolumeId
from stockman.ports.system import Timekeeper
from stockman.proxmox.calls.base import Calls, Parameters, SharedCall, read_optional_task, read_task
from stockman.proxmox.replication import ReplicationJob, ReplicationState
from stockman.proxmox.rows import read_record, text
from stockman.proxmox.storages import (
    Checksum,
    Download,
    NewVolume,
    StorageState,
    Upload,
    UrlMetadata,
    Volume,
)
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Request, Transport

_STATE = {"kind": "type", "size": "total", "free": "avail"}
_VOLUME = {"id": "volid", "created": "ctime", "is_protected": "protected"}
_KIB = 1024
_Listing = tuple[HostName, Datastore, str | None, Vmid | None]
"""Host, storage, kind and guest of a listing of volumes."""


class StorageCalls(Calls):
    """Storages."""

    def __init__(self, transport: Transport, clock: Timekeeper) -> None:
        super().__init__(transport, clock)
        self._states: defaultdict[tuple[str, str], SharedCall[StorageState]] = defaultdict(
            SharedCall
        )
        self._volumes: defaultdict[_Listing, SharedCall[tuple[Volume, ...]]] = defaultdict(
            SharedCall
        )

    async def storages(self, host: HostName) -> tuple[StorageState, ...]:
        """List the storages of a host, with their usage."""
        return await self._rows(
            ("nodes", host, "storage"), lambda row: read_record(StorageState, row, _STATE)
        )

    async def storage_state(self, host: HostName, storage: Datastore) -> StorageState:
        """Return a storage on a host; raises `NotFound`."""
        return await self._states[host, storage].run(
            lambda: self._get(
                ("nodes", host, "storage", storage, "status"),
                lambda data: read_record(StorageState, data, _STATE, storage=storage),
            )
        )

    async def volumes(
        self,
        host: HostName,
        storage: Datastore,
        *,
        content: str | None = None,
        vmid: Vmid | None = None,
    ) -> tuple[Volume, ...]:
        """List the volumes in a storage, optionally of one kind or guest."""
        return await self._volumes[host, storage, content, vmid].run(
            lambda: self._rows(
                ("nodes", host, "storage", storage, "content"),
                lambda row: read_record(Volume, row, _VOLUME),
                {"content": content, "vmid": vmid},
            )
        )

    async def allocate_volume(self, host: HostName, storage: Datastore, volume: NewVolume) -> str:
        """Create an empty volume and return its id."""
        return await self._send(
            "POST",
            ("nodes", host, "storage", storage, "content"),
            {
                "vmid": volume.vmid,
                "filename": volume.name,
                "size": f"{volume.size // _KIB}",
                "format": volume.format,
            },
            text,
        )

    async def delete_volume(self, host: HostName, volume: str) -> TaskRef | None:
        """Delete a volume. None: deleted without a task."""
        volume_id = _parse_volume_id(volume)
        path = ("nodes", host, "storage", volume_id.storage, "content", str(volume_id))
        request = Request(method="DELETE", segments=path)
        return read_optional_task(request, await self._transport.call(request))

    async def url_facts(self, host: HostName, url: str) -> UrlMetadata:
        """Return the metadata of a file on a web server, as seen by a host."""
        return await self._get(
            ("nodes", host, "query-url-metadata"),
            lambda data: read_record(UrlMetadata, data, {"name": "filename", "mime": "mimetype"}),
            {"url": url},
        )

    async def download(self, host: HostName, storage: Datastore, file: Download) -> TaskRef:
        """Start a download by a host; the task fails if a file with this name exists."""
        request = Request(
            method="POST",
            segments=("nodes", host, "storage", storage, "download-url"),
            parameters={
                "url": file.url,
                "content": file.content,
                "filename": file.name,
                "compression": file.compression,
                "verify-certificates": file.verify_certificates,
                **_checksum_parameters(file.checksum),
            },
        )
        return read_task(request, await self._transport.call(request))

    async def upload(self, host: HostName, storage: Datastore, file: Upload) -> TaskRef:
        """Upload a file. The task may run on another host."""
        request = Request(
            method="POST",
            segments=("nodes", host, "storage", storage, "upload"),
            parameters={"content": file.content, **_checksum_parameters(file.checksum)},
            upload=file,
        )
        return read_task(request, await self._transport.call(request))


def _parse_volume_id(volume: str) -> VolumeId:
    try:
        return VolumeId.parse(volume)
    except ValueError as error:
        raise Rejected(_volume_problem(str(error))) from None


def _volume_problem(why: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="the name of a Proxmox VE volume is invalid",
        why=why,
        fix="use the form STORAGE:NAME",
    )


def _checksum_parameters(checksum: Checksum | None) -> Parameters:
    if checksum is None:
        return {}
    return {"checksum-algorithm": checksum.algorithm, "checksum": checksum.digest}


_REPLICATION = {"failures": "fail_count"}


class ReplicationCalls(Calls):
    """Replication of disks."""

    async def replication_jobs(self) -> tuple[ReplicationJob, ...]:
        """List the configured replication jobs."""
        return await self._rows(
            ("cluster", "replication"),
            lambda row: read_record(ReplicationJob, row, {"disabled": "disable"}),
        )

    async def replication_states(self, host: HostName) -> tuple[ReplicationState, ...]:
        """List the state of replication of the guests on a host."""
        return await self._rows(
            ("nodes", host, "replication"),
            lambda row: read_record(ReplicationState, row, _REPLICATION),
        )
