"""Files that come into a storage: what is kept of them, when they are refused, and uploads."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.images.untrusted import UntrustedImage, checked_image
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.storages.places import folder_of
from stockman_lab.pve.workers import Job, Work, register


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
