"""Files that come into a storage by upload or download: what is kept, what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.images.untrusted import UntrustedImage, checked_image
from stockman_lab.pve import space, workers
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.storages.places import folder_of
from stockman_lab.pve.workers import FINISH, Job, Work, register

if TYPE_CHECKING:
    from stockman_lab.images.downloading import Download
    from stockman_lab.images.fetching import Fetched, FetchFailed


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that somebody brought."""

    content: str
    """`iso`, `vztmpl`, `import` or `snippets`."""
    filename: str
    data: bytes


_IMAGES = frozenset({"qcow2", "raw", "vmdk"})


def extension_of(filename: str) -> str:
    """What stands behind the last dot, as it is written."""
    return filename.rpartition(".")[2]


def image_form(content: str, filename: str) -> str:
    """The form that a file has to be of; empty: any, or none that is an image."""
    form = extension_of(filename)
    return form if content == "import" and form in _IMAGES else ""


def check_file(content: str, filename: str, data: bytes, path: str) -> None:
    """Refuse a file that is not what its name says, or that refers to another."""
    if content == "import" and extension_of(filename) == "ova":
        _check_appliance(data, path)
    elif content != "vztmpl":
        try:
            checked_image(data, path, image_form(content, filename))
        except UntrustedImage as refusal:
            raise die(str(refusal)) from None


def _check_appliance(data: bytes, path: str) -> None:
    import io
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            names = archive.getnames()
    except (tarfile.TarError, EOFError):
        raise die(f"command 'tar -t -f {path}' failed: exit code 2") from None
    if not any(name.endswith(".ovf") for name in names):
        raise die("ova archive has no .ovf file inside")


def format_of(content: str, filename: str) -> str:
    """What lists call the format of a file."""
    extension = extension_of(filename).lower()
    match content:
        case "iso":
            return "iso"
        case "vztmpl":
            return extension if extension == "tar" else f"t{extension}"
        case _:
            return extension_of(filename)


def put_file(cluster: Cluster, storage: Storage, host: Host, file: ReceivedFile) -> Volume:
    """Keep a file, in place of one of the same name; refused where there is no room for it."""
    content, filename, data = file.content, file.filename, file.data
    name = f"{content}/{filename}"
    old = space.find(cluster, host.name, f"{storage.id}:{name}")
    room = space.space(cluster, storage, host).avail + (old.used if old is not None else 0)
    if len(data) > room:
        raise NoRoom
    blob = cluster.around.blobs.put(data)
    cluster.around.blobs.hold(blob)
    if old is not None:
        space.free(cluster, old)
    form = image_form(content, filename)
    size = checked_image(data, filename, form).virtual_size if form else len(data)
    volume = Volume(
        storage=storage.id,
        host="" if storage.is_shared else host.name,
        name=name,
        content=content,
        format=format_of(content, filename),
        size=size,
        used=len(data),
        created_at=cluster.now,
        blob=blob,
    )
    cluster.state.volumes[space.key(storage, host.name, name)] = volume
    return volume


class NoRoom(ApiError):
    """A file that is larger than what is left."""

    def __init__(self) -> None:
        super().__init__(500, "No space left on device")


UPLOAD = "storage.upload"
_BYTES_PER_SECOND = 400 << 20


@register
class KeepUpload(Work):
    """Keeps the blob `blob` as `filename` on `storage` of the host `node`."""

    name = UPLOAD

    def begin(self, job: Job) -> float:
        job.log(f"starting file import from: {job.text('temporary')}")
        data = job.cluster.around.blobs.get(job.text("blob"))
        self._check(job, data)
        job.log(f"target node: {job.text('node')}")
        job.log(f"target file: {self._target(job)}")
        job.log(f"file size is: {len(data)}")
        job.log(f"command: {self._command(job)}")
        return 0.5 + len(data) / _BYTES_PER_SECOND

    def finish(self, job: Job) -> None:
        cluster, host = job.cluster, job.cluster.host(job.text("node"))
        storage = space.find_storage(cluster, job.text("storage"))
        data = cluster.around.blobs.get(job.text("blob"))
        try:
            put_file(
                cluster,
                storage,
                host,
                ReceivedFile(job.text("content"), job.text("filename"), data),
            )
        except NoRoom as error:
            where = self._target(job)
            raise die(f"import failed: cp: error writing '{where}': {error.message}") from None
        job.log("finished file import successfully")

    def ended(self, job: Job) -> None:
        job.cluster.around.blobs.release(job.text("blob"))

    def _check(self, job: Job, data: bytes) -> None:
        from stockman_lab.images.downloading import Checksum

        algorithm = job.text("algorithm")
        if algorithm:
            wrong = Checksum(algorithm=algorithm, expected=job.text("checksum")).mismatch(data)
            if wrong:
                job.log("calculating checksum...")
                raise die(wrong)
            job.log("calculating checksum...OK, checksum verified")
        check_file(job.text("content"), job.text("filename"), data, job.text("temporary"))

    def _target(self, job: Job) -> str:
        storage = space.find_storage(job.cluster, job.text("storage"))
        return f"{folder_of(storage, job.text('content'))}/{job.text('filename')}"

    def _command(self, job: Job) -> str:
        temporary, target = job.text("temporary"), self._target(job)
        if job.text("node") == job.task.node:
            return f"cp -- {temporary} {target}"
        address = job.cluster.host(job.text("node")).address
        alias = f"-o BatchMode=yes -o HostKeyAlias={job.text('node')}"
        return f"/usr/bin/scp {alias} -p -- {temporary} [{address}]:{target}"


DOWNLOAD = "storage.download"
TRUNCATED = "truncated"
"""The message of a fault that cuts a download short instead of damaging it."""
_DOWNLOAD_BYTES_PER_SECOND = 100 << 20
_FAILED = "download failed: exit code 4"


@register
class FetchFile(Work):
    """Fetches `url` as `filename` into `storage`."""

    name = DOWNLOAD

    def begin(self, job: Job) -> float:
        from stockman_lab.images.downloading import existing_is_right
        from stockman_lab.images.fetching import FetchFailed

        cluster = job.cluster
        if job.text("compression"):
            raise die("the lab does not decompress downloads")
        wanted = _download_of(job)
        existing = space.find(cluster, job.task.node, _volume_id(job))
        if existing is not None:
            content = cluster.around.blobs.get(existing.blob)
            try:
                existing_is_right(wanted, content, job.log)
            except FetchFailed as failure:
                raise die(failure.text) from None
            job.arguments["_have"] = True
            return 0.5
        job.log(f"downloading {wanted.url} to {wanted.path}")
        if _struck(job):
            return -1.0
        temporary = f"{wanted.path}.tmp_dwnl.{job.task.pid}"
        upid = job.task.upid
        cluster.around.outside.fetch(
            wanted.url,
            temporary,
            verify=wanted.verify,
            done=lambda result: _arrived(cluster, upid, result),
        )
        return -1.0

    def finish(self, job: Job) -> None:
        if job.arguments.get("_have"):
            return
        if job.text("_failed"):
            raise die(job.text("_failed"))
        wanted = _download_of(job)
        data = _kept(job, wanted, job.cluster.around.blobs.get(job.text("_blob")))
        host = job.cluster.host(job.task.node)
        storage = space.find_storage(job.cluster, job.text("storage"))
        filename, content = job.text("filename"), job.text("content")
        try:
            put_file(job.cluster, storage, host, ReceivedFile(content, filename, data))
        except NoRoom as error:
            raise die(f"download failed: {wanted.path}: {error.message}") from None
        job.log(f"download of '{wanted.url}' to '{wanted.path}' finished")
        if job.text("_then"):
            raise die(job.text("_then"))

    def ended(self, job: Job) -> None:
        job.cluster.around.blobs.release(job.text("_blob"))


def _volume_id(job: Job) -> str:
    return f"{job.text('storage')}:{job.text('content')}/{job.text('filename')}"


def _download_of(job: Job) -> Download:
    from stockman_lab.images.downloading import Checksum, Download

    content, filename = job.text("content"), job.text("filename")
    storage = space.find_storage(job.cluster, job.text("storage"))
    algorithm = job.text("algorithm")
    return Download(
        url=job.text("url"),
        path=f"{folder_of(storage, content)}/{filename}",
        checksum=(
            Checksum(algorithm=algorithm, expected=job.text("checksum")) if algorithm else None
        ),
        verify=bool(job.arguments.get("verify", True)),
        form=image_form(content, filename),
        is_image=False,  # looked at by `_kept`, with appliances
        pid=job.task.pid,
    )


def _kept(job: Job, download: Download, data: bytes) -> bytes:
    from stockman_lab.images.downloading import finished
    from stockman_lab.images.fetching import FetchFailed

    lines: list[str] = []
    try:
        data = finished(download, data, lines.append)
    except FetchFailed as failure:
        raise die(failure.text) from None
    finally:
        for line in lines:
            if not line.startswith("download of '"):
                job.log(line)
    try:
        check_file(
            job.text("content"),
            job.text("filename"),
            data,
            f"{download.path}.tmp_dwnl.{download.pid}",
        )
    except ApiError as error:
        raise die(f"failed to verify file: {error.message}") from None
    return data


def _struck(job: Job) -> bool:
    """Let a fault have its way; whether nothing is fetched any more."""
    facts: dict[str, object] = {
        "node": job.task.node,
        "storage": job.text("storage"),
        "url": job.text("url"),
        "filename": job.text("filename"),
    }
    fault = job.cluster.fault(Point.DOWNLOAD, facts)
    if fault is None:
        return False
    match fault.effect:
        case Effect.FAIL | Effect.CUT:
            raise die(fault.message or _FAILED)
        case Effect.HANG:
            job.task.hangs = True
            return True
        case Effect.CLAIM:
            job.arguments["_have"] = True
            _finish_after(job, 1.0)
            return True
        case _:
            _remember(job, fault)
            return False


def _remember(job: Job, fault: Fault) -> None:
    match fault.effect:
        case Effect.DO_THEN_FAIL:
            job.arguments["_then"] = fault.message or _FAILED
        case Effect.DELAY:
            job.arguments["_slow"] = fault.seconds
        case Effect.CORRUPT:
            job.arguments["_damage"] = fault.message or "bytes"
        case Effect.LIE:
            job.arguments["_old"] = True
        case _:
            pass


def _arrived(cluster: Cluster, upid: str, result: Fetched | FetchFailed) -> None:
    """Take what came from outside, and let the task go on with it."""
    from stockman_lab.images.fetching import FetchFailed

    task = cluster.state.tasks.get(upid)
    if task is None or not task.is_running:
        return
    job = Job(cluster, task)
    for line in result.log:
        job.log(line)
    if isinstance(result, FetchFailed):
        job.arguments["_failed"] = result.text
        _finish_after(job, 1.0)
        return
    blobs = cluster.around.blobs
    content = _content_after(job, result.content)
    job.arguments["_blob"] = blobs.put(content)
    blobs.hold(job.text("_blob"))
    _finish_after(job, 0.5 + len(content) / _DOWNLOAD_BYTES_PER_SECOND)


def _content_after(job: Job, content: bytes) -> bytes:
    """What is made of a content on its way."""
    damage = job.text("_damage")
    if damage == TRUNCATED:
        return content[: len(content) // 2]
    if damage and content:
        middle = len(content) // 2
        return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
    if job.arguments.get("_old"):
        return _older(job) or content
    return content


def _older(job: Job) -> bytes:
    """What the same URL led to when it was fetched first, as far as somebody still has it."""
    blobs = job.cluster.around.blobs
    for task in job.cluster.state.tasks.values():
        mine = task.work == DOWNLOAD and task.arguments.get("url") == job.text("url")
        blob = str(task.arguments.get("_blob", ""))
        if mine and task is not job.task and blob in blobs:
            return blobs.get(blob)
    return b""


def _finish_after(job: Job, seconds: float) -> None:
    delays = (job.arguments.get("_slow", 0.0), job.arguments.get("_delay", 0.0))
    extra = sum(float(str(delay)) for delay in delays)
    job.cluster.around.timeline.after(
        seconds + extra, FINISH, {"cluster": job.cluster.name, "upid": job.task.upid}
    )


def interrupted(cluster: Cluster) -> None:
    """End downloads that nobody brings to an end: those of a world that was loaded again."""
    for task in cluster.state.tasks.values():
        waits = task.work == DOWNLOAD and not any(
            name in task.arguments for name in ("_blob", "_failed", "_have")
        )
        if task.is_running and not task.hangs and waits:
            workers.stop(cluster, task.upid)
