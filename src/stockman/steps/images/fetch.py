"""Downloads disk images to the storages of Proxmox VE."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import ClassVar, Literal, cast

from stockman.model.errors import Conflict, NotFound, Refused, Rejected, Unreachable
from stockman.model.names import Datastore, HostName
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.images import RemoteFile
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.guest_values import image_volume
from stockman.proxmox.storages import Checksum, Download, Upload, Volume
from stockman.proxmox.tasks import TaskRef
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction

_SECONDS = 3600.0
_DOWNLOAD = "download"
"""Kind of the task in Proxmox VE."""
Algorithm = Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
_DOWNLOAD_ERRORS = "download failed"
"""Message of a task whose download failed."""


@record
class FetchImage(RetryingAction):
    """Store an image: the host downloads it, or it is uploaded if the host cannot."""

    kind: ClassVar[str] = "image.fetch"
    cluster: str
    host: HostName
    """The host that downloads it; on a shared storage it is then available to all hosts."""
    storage: Datastore
    name: str
    """Its volume name, derived from its content."""
    url: str
    checksum: str = ""
    """Expected checksum, `sha256:...`. Empty: not configured."""
    asks_checksum: bool = False
    """Whether the checksum is requested from the server. If it provides none, like the public Image
    Factory, only the size is compared."""

    @property
    def summary(self) -> str:
        return f"fetch {self.name} to {self.storage} on {self.host}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"volume/{self.cluster}/{self.host}/{self.volume}",)

    @property
    def volume(self) -> str:
        return image_volume(self.storage, self.name)

    async def done(self, ports: Ports) -> bool:
        volume = await self._find_volume(ports.on(self.cluster))
        if volume is None:
            return False
        return await self._is_whole(ports, volume)

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.cluster)
        remote = await self._read_remote(ports)
        await self._await_earlier_download(pve)
        await ports.permit()
        volume = await self._find_volume(pve)
        if volume is not None:
            if _has_size(volume, remote):
                return
            await self._delete(pve)
        has_way = await _can_download(pve, self.host, self.url)
        known = await self._checksum(ports)
        if not has_way or not await self._download(pve, known):
            await self._upload(ports, pve, remote, known)
        volume = await self._find_volume(pve)
        if volume is not None and not _has_size(volume, remote):
            await self._delete(pve)
            raise Rejected(size_mismatch(self.volume, volume.size, remote.size))

    async def _is_whole(self, ports: Ports, volume: Volume) -> bool:
        return _has_size(volume, await self._read_remote(ports))

    async def _read_remote(self, ports: Ports) -> RemoteFile:
        try:
            return await ports.to_images().file(self.url)
        except NotFound:
            raise Refused(image_not_available(self.url)) from None

    async def _checksum(self, ports: Ports) -> Checksum | None:
        """Return the expected checksum. None: unknown."""
        checksum = self.checksum
        if not checksum and self.asks_checksum:
            checksum = await ports.to_images().checksum(self.url)
        algorithm, _, digest = checksum.partition(":")
        return Checksum(algorithm=cast("Algorithm", algorithm), digest=digest) if digest else None

    async def _find_volume(self, pve: ProxmoxClient) -> Volume | None:
        volumes = await pve.volumes(self.host, self.storage, content="import")
        return next((volume for volume in volumes if volume.id == self.volume), None)

    async def _delete(self, pve: ProxmoxClient) -> None:
        await pve.wait_task(await pve.delete_volume(self.host, self.volume))

    async def _await_earlier_download(self, pve: ProxmoxClient) -> None:
        """Wait for a download of the same file that an interrupted run started."""
        for task in await pve.past_tasks(self.host):
            if (task.kind, task.subject, task.ended) != (_DOWNLOAD, self.name, None):
                continue
            with suppress(NotFound, Conflict, Rejected):  # the volumes show the result
                await pve.wait_task(TaskRef.parse(task.upid), _SECONDS)

    async def _download(self, pve: ProxmoxClient, known: Checksum | None) -> bool:
        """Download by the host; return whether the host could."""
        file = Download(url=self.url, content="import", name=self.name, checksum=known)
        try:
            task = await pve.download(self.host, self.storage, file)
            await pve.wait_task(task, _SECONDS)
        except Conflict:
            # An earlier download ended in the meantime; the size is compared below.
            if await self._find_volume(pve) is None:
                raise
        except Rejected as error:
            judged = self._classify_error(error, known)
            if isinstance(judged, Refused) or _DOWNLOAD_ERRORS not in error.problem.why:
                raise judged from None
            return False
        return True

    async def _upload(
        self, ports: Ports, pve: ProxmoxClient, remote: RemoteFile, known: Checksum | None
    ) -> None:
        if remote.size is None:
            raise Refused(no_download_method(self.url, str(self.host)))

        def read() -> AsyncIterator[bytes]:
            sha256 = known.digest if known is not None and known.algorithm == "sha256" else ""
            return ports.to_images().read(self.url, sha256=sha256)

        await ports.permit()
        file = Upload(content="import", name=self.name, size=remote.size, read=read, checksum=known)
        try:
            await pve.wait_task(await pve.upload(self.host, self.storage, file), _SECONDS)
        except Rejected as error:
            raise self._classify_error(error, known) from None

    def _classify_error(self, error: Rejected, known: Checksum | None) -> Rejected | Refused:
        """Return the error to raise: wrong content is not retried; Proxmox VE deletes it."""
        why = error.problem.why
        if known is None or not any(text in why for text in ("checksum", "SHA-256")):
            return error
        return Refused(
            checksum_mismatch(self.url, why)
            if self.checksum
            else image_content_differs(self.url, why)
        )


@record
class DeleteImage(RetryingAction):
    """Delete an image that no machine uses."""

    kind: ClassVar[str] = "image.delete"
    cluster: str
    host: HostName
    volume: str

    @property
    def summary(self) -> str:
        return f"delete {self.volume} on {self.host}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"volume/{self.cluster}/{self.host}/{self.volume}",)

    @property
    def destroys(self) -> str:
        return f"the image {self.volume}, which can be fetched again"

    async def done(self, ports: Ports) -> bool:
        """Return whether the storage does not have the image."""
        storage = Datastore(self.volume.partition(":")[0])
        volumes = await ports.on(self.cluster).volumes(self.host, storage, content="import")
        return all(volume.id != self.volume for volume in volumes)

    async def attempt(self, ports: Ports) -> None:
        if await self.done(ports):
            return
        await ports.on(self.cluster).wait_task(
            await ports.on(self.cluster).delete_volume(self.host, self.volume)
        )


async def _can_download(pve: ProxmoxClient, host: HostName, url: str) -> bool:
    """Return whether a host can download from an address."""
    try:
        await pve.url_facts(host, url)
    except Unreachable as error:
        if error.problem.code == "proxmox.host-down":
            raise
        return False
    except (Rejected, NotFound):
        return False
    return True


def _has_size(volume: Volume, remote: RemoteFile) -> bool:
    """Return whether an image has the size of the file that was to be downloaded, if both are
    known."""
    return None in (volume.size, remote.size) or volume.size == remote.size


def image_not_available(url: str) -> Problem:
    return Problem(
        code="image.missing",
        what="the image does not exist on the server",
        where=url,
        why="the server reports that there is no such file",
        fix="check talos_version, the schematic and talos.factory_url, or the url of the guest",
    )


def no_download_method(url: str, host: str) -> Problem:
    return Problem(
        code="image.no-way",
        what=f"the image can neither be downloaded by {host} nor uploaded to it",
        where=url,
        why=f"{host} cannot reach the server, and the server does not report the size of the file",
        fix=f"let {host} reach the server, or configure an existing volume as the image",
    )


def size_mismatch(volume: str, observed: int | None, expected: int | None) -> Problem:
    return Problem(
        code="image.size",
        what="the image on the storage has the wrong size",
        where=volume,
        why=f"it has {observed} bytes, expected {expected}; it was deleted again",
        fix="run it again; if it fails again, bypass proxies that truncate files",
    )


def checksum_mismatch(url: str, why: str) -> Problem:
    return Problem(
        code="image.checksum",
        what="the image does not have the configured checksum",
        where=url,
        why=why,
        fix="check whether the file on the server was replaced; if so, update the checksum",
    )


def image_content_differs(url: str, why: str) -> Problem:
    return Problem(
        code="image.checksum",
        what="the image does not have the checksum that its server reports",
        where=url,
        why=why,
        fix="run it again; if it fails again, bypass proxies that change files",
    )
