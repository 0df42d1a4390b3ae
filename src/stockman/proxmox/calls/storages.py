"""Calls on storages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from stockman.model.errors import Rejected
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problem
from stockman.model.proxmox_values import VolumeId
from stockman.model.secret import Secret
from stockman.ports.system import Timekeeper
from stockman.proxmox.backups import BackupJob, BackupRequest, ReplicationJob, ReplicationState
from stockman.proxmox.calls.base import Calls, Parameters, SharedCall
from stockman.proxmox.rows import read_record, text, text_map
from stockman.proxmox.storages import (
    Checksum,
    Download,
    NewVolume,
    StorageDefinition,
    StorageState,
    Upload,
    UrlMetadata,
    Volume,
)
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Request, Transport

_ENTRY = {"kind": "type", "hosts": "nodes", "disabled": "disable"}
_ENTRY_KEYS = ("storage", "type", "content", "nodes", "shared", "disable", "digest")
_STATE = {"kind": "type", "size": "total", "free": "avail"}
_VOLUME = {"id": "volid", "created": "ctime", "is_protected": "protected"}
_KIB = 1024
_Listing = tuple[HostName, Datastore, str | None, Vmid | None]
"""Which volumes are listed: of which host, storage, kind and guest."""


class StorageCalls(Calls):
    """`ports.proxmox.storages.Storages` over a wire."""

    def __init__(self, wire: Transport, clock: Timekeeper) -> None:
        super().__init__(wire, clock)
        self._states: defaultdict[tuple[str, str], SharedCall[StorageState]] = defaultdict(
            SharedCall
        )
        self._volumes: defaultdict[_Listing, SharedCall[tuple[Volume, ...]]] = defaultdict(
            SharedCall
        )

    async def storage_entries(self) -> tuple[StorageDefinition, ...]:
        return await self._rows(("storage",), _read_definition)

    async def create_storage(
        self, storage: Datastore, kind: str, settings: Mapping[str, str | Secret]
    ) -> None:
        await self._do("POST", ("storage",), {"storage": storage, "type": kind, **settings})

    async def update_storage(
        self, storage: Datastore, settings: Mapping[str, str | Secret], delete: tuple[str, ...] = ()
    ) -> None:
        gone = ",".join(delete) or None
        await self._do("PUT", ("storage", storage), {**settings, "delete": gone})

    async def delete_storage(self, storage: Datastore) -> None:
        await self._do("DELETE", ("storage", storage))

    async def storages(self, host: HostName) -> tuple[StorageState, ...]:
        return await self._rows(
            ("nodes", host, "storage"), lambda row: read_record(StorageState, row, _STATE)
        )

    async def storage_state(self, host: HostName, storage: Datastore) -> StorageState:
        return await self._states[host, storage].of(
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
        return await self._volumes[host, storage, content, vmid].of(
            lambda: self._rows(
                ("nodes", host, "storage", storage, "content"),
                lambda row: read_record(Volume, row, _VOLUME),
                {"content": content, "vmid": vmid},
            )
        )

    async def allocate_volume(self, host: HostName, storage: Datastore, volume: NewVolume) -> str:
        return await self._made(
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
        where = _parse_volume_id(volume)
        return await self._maybe_start(
            "DELETE", ("nodes", host, "storage", where.storage, "content", str(where))
        )

    async def url_facts(self, host: HostName, url: str) -> UrlMetadata:
        return await self._get(
            ("nodes", host, "query-url-metadata"),
            lambda data: read_record(UrlMetadata, data, {"name": "filename", "mime": "mimetype"}),
            {"url": url},
        )

    async def download(self, host: HostName, storage: Datastore, file: Download) -> TaskRef:
        return await self._start(
            "POST",
            ("nodes", host, "storage", storage, "download-url"),
            {
                "url": file.url,
                "content": file.content,
                "filename": file.name,
                "compression": file.compression,
                "verify-certificates": file.verify_certificates,
                **_checksum_parameters(file.checksum),
            },
        )

    async def upload(self, host: HostName, storage: Datastore, file: Upload) -> TaskRef:
        return await self._started(
            Request(
                method="POST",
                segments=("nodes", host, "storage", storage, "upload"),
                parameters={"content": file.content, **_checksum_parameters(file.checksum)},
                upload=file,
            )
        )


def _parse_volume_id(volume: str) -> VolumeId:
    try:
        return VolumeId.parse(volume)
    except ValueError as error:
        raise Rejected(_volume_problem(str(error))) from None


def _volume_problem(why: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="Proxmox VE cannot be asked for a volume without a proper name",
        why=why,
        fix="name it as Proxmox VE does: STORAGE:NAME",
    )


def _checksum_parameters(checksum: Checksum | None) -> Parameters:
    if checksum is None:
        return {}
    return {"checksum-algorithm": checksum.algorithm, "checksum": checksum.digest}


def _read_definition(row: Mapping[str, object]) -> StorageDefinition:
    settings = {key: value for key, value in text_map(row).items() if key not in _ENTRY_KEYS}
    return read_record(StorageDefinition, row, _ENTRY, settings=settings)


_JOB = {"vmids": "vmid", "every_guest": "all"}
_REPLICATION = {"failures": "fail_count"}


class BackupCalls(Calls):
    """`ports.proxmox.backups.Backups` over a wire."""

    async def back_up(self, host: HostName, wish: BackupRequest) -> TaskRef | None:
        return await self._maybe_start(
            "POST",
            ("nodes", host, "vzdump"),
            {
                "vmid": wish.vmid,
                "storage": wish.storage,
                "mode": wish.mode,
                "compress": wish.compress,
                "notes-template": wish.notes or None,
                "protected": wish.protected or None,
            },
        )

    async def backup_jobs(self) -> tuple[BackupJob, ...]:
        return await self._rows(
            ("cluster", "backup"), lambda row: read_record(BackupJob, row, _JOB)
        )

    async def replication_jobs(self) -> tuple[ReplicationJob, ...]:
        return await self._rows(
            ("cluster", "replication"),
            lambda row: read_record(ReplicationJob, row, {"disabled": "disable"}),
        )

    async def replication_states(self, host: HostName) -> tuple[ReplicationState, ...]:
        return await self._rows(
            ("nodes", host, "replication"),
            lambda row: read_record(ReplicationState, row, _REPLICATION),
        )
