"""Calls on storages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from stockman.model.errors import Rejected
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problem
from stockman.model.proxmox_strings import VolumeId
from stockman.model.secret import Secret
from stockman.ports.clock import Timekeeper
from stockman.ports.proxmox.storages import (
    Checksum,
    Download,
    NewVolume,
    StorageEntry,
    StorageState,
    Upload,
    UrlFacts,
    Volume,
)
from stockman.ports.proxmox.tasks import TaskRef
from stockman.proxmox.calls import Calls, Parameters
from stockman.proxmox.one_answer import OneAnswer
from stockman.proxmox.rows import read, text, texts
from stockman.proxmox.wire import Request, Wire

_ENTRY = {"kind": "type", "hosts": "nodes", "disabled": "disable"}
_ENTRY_KEYS = ("storage", "type", "content", "nodes", "shared", "disable", "digest")
_STATE = {"kind": "type", "size": "total", "free": "avail"}
_VOLUME = {"id": "volid", "created": "ctime", "is_protected": "protected"}
_KIB = 1024
_Listing = tuple[HostName, Datastore, str | None, Vmid | None]
"""Which volumes are listed: of which host, storage, kind and guest."""


class StorageCalls(Calls):
    """`ports.proxmox.storages.Storages` over a wire."""

    def __init__(self, wire: Wire, clock: Timekeeper) -> None:
        super().__init__(wire, clock)
        self._states: defaultdict[tuple[str, str], OneAnswer[StorageState]] = defaultdict(OneAnswer)
        self._volumes: defaultdict[_Listing, OneAnswer[tuple[Volume, ...]]] = defaultdict(OneAnswer)

    async def storage_entries(self) -> tuple[StorageEntry, ...]:
        return await self._rows(("storage",), _entry)

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
            ("nodes", host, "storage"), lambda row: read(StorageState, row, _STATE)
        )

    async def storage_state(self, host: HostName, storage: Datastore) -> StorageState:
        return await self._states[host, storage].of(
            lambda: self._get(
                ("nodes", host, "storage", storage, "status"),
                lambda data: read(StorageState, data, _STATE, storage=storage),
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
                lambda row: read(Volume, row, _VOLUME),
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
        where = _named(volume)
        return await self._maybe_start(
            "DELETE", ("nodes", host, "storage", where.storage, "content", str(where))
        )

    async def url_facts(self, host: HostName, url: str) -> UrlFacts:
        return await self._get(
            ("nodes", host, "query-url-metadata"),
            lambda data: read(UrlFacts, data, {"name": "filename", "mime": "mimetype"}),
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
                **_checked(file.checksum),
            },
        )

    async def upload(self, host: HostName, storage: Datastore, file: Upload) -> TaskRef:
        return await self._started(
            Request(
                method="POST",
                segments=("nodes", host, "storage", storage, "upload"),
                parameters={"content": file.content, **_checked(file.checksum)},
                upload=file,
            )
        )


def _named(volume: str) -> VolumeId:
    try:
        return VolumeId.parse(volume)
    except ValueError as error:
        raise Rejected(_no_volume(str(error))) from None


def _no_volume(why: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="Proxmox VE cannot be asked for a volume without a proper name",
        why=why,
        fix="name it as Proxmox VE does: STORAGE:NAME",
    )


def _checked(checksum: Checksum | None) -> Parameters:
    if checksum is None:
        return {}
    return {"checksum-algorithm": checksum.algorithm, "checksum": checksum.digest}


def _entry(row: Mapping[str, object]) -> StorageEntry:
    settings = {key: value for key, value in texts(row).items() if key not in _ENTRY_KEYS}
    return read(StorageEntry, row, _ENTRY, settings=settings)
