"""Backups of guests: which disks are part of them, archives, and the work of `vzdump`."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from stockman_lab.core.saved import Unreadable, plain, restored
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import DRIVES
from stockman_lab.pve.formats.volume_name import backup_file
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import (
    GuestConfig,
    container_config_text,
    machine_config_text,
)
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.storages.backup_jobs import notes_of
from stockman_lab.pve.workers import Job, Work, register

_MARK = b"stockman:backup:1\n"


@dataclass(slots=True)
class SavedDisk:
    """One disk in a backup."""

    key: str
    """`scsi0`, `rootfs`."""
    volid: str
    format: str
    size: int
    used: int
    content: str = ""
    """The bytes that it began with, as base64. Empty: zeros."""
    contents: dict[str, object] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        return base64.b64decode(self.content)


@dataclass(slots=True)
class Archive:
    """A guest as it was."""

    kind: str
    """`qemu` or `lxc`."""
    vmid: int
    text: str
    """Its configuration file."""
    values: dict[str, str] = field(default_factory=dict)
    disks: list[SavedDisk] = field(default_factory=list)


def pack_archive(archive: Archive) -> bytes:
    """The bytes of an archive, the same for the same guest."""
    text = json.dumps(plain(archive), sort_keys=True, separators=(",", ":"))
    return _MARK + zlib.compress(text.encode())


def read_archive(content: bytes) -> Archive:
    """The archive in bytes; raises `Unreadable` where they are something else."""
    if not content.startswith(_MARK):
        raise Unreadable("it is no backup of this world")
    try:
        data = json.loads(zlib.decompress(content.removeprefix(_MARK)))
    except (zlib.error, ValueError) as error:
        raise Unreadable(f"it is damaged ({error})") from None
    return restored(Archive, data)


def archive_of(cluster: Cluster, host: str, volid: str) -> Archive:
    """The archive of a backup as a host sees it; refused where there is none."""
    volume = space.find(cluster, host, volid)
    if volume is None:
        raise die(f"can't find file '{volid}'")
    try:
        return read_archive(cluster.around.blobs.get(volume.blob))
    except Unreadable:
        raise die("unable to read vma archive: invalid header") from None


_MOUNT = re.compile(r"rootfs|mp\d+", re.ASCII)
_OFF = frozenset({"0", "off", "no", "false"})
_ON = frozenset({"1", "on", "yes", "true"})


@dataclass(frozen=True, slots=True)
class BackupDisk:
    """A disk of a guest, as backups see it."""

    key: str
    volid: str
    included: bool
    reason: str


def backup_disks(guest: Guest) -> Iterator[BackupDisk]:
    """Disks of a guest in order; CD-ROM drives are none."""
    for key, value in guest.config.values.items():
        if guest.kind == "qemu" and key in DRIVES:
            yield from _drive(guest, key, value)
        elif guest.kind == "lxc" and _MOUNT.fullmatch(key):
            yield _mount(key, value)


def _drive(guest: Guest, key: str, value: str) -> Iterator[BackupDisk]:
    volid, options = _read_drive(value, "file")
    if options.get("media") == "cdrom" or ":" not in volid:
        return
    if key == "efidisk0" and guest.config.values.get("bios", "seabios") != "ovmf":
        yield BackupDisk(key, volid, False, "efidisk but no OMVF BIOS")
    elif options.get("backup", "1").lower() in _OFF:
        yield BackupDisk(key, volid, False, "disabled")
    else:
        yield BackupDisk(key, volid, True, "enabled")


def _mount(key: str, value: str) -> BackupDisk:
    volid, options = _read_drive(value, "volume")
    if key == "rootfs":
        return BackupDisk(key, volid, True, "rootfs")
    if ":" not in volid:
        return BackupDisk(key, volid, False, "not a volume")
    if options.get("backup", "0").lower() in _ON:
        return BackupDisk(key, volid, True, "enabled")
    return BackupDisk(key, volid, False, "disabled")


def _read_drive(value: str, bare: str) -> tuple[str, dict[str, str]]:
    first, *rest = value.split(",")
    options = dict(part.split("=", 1) for part in rest if "=" in part)
    return first.removeprefix(f"{bare}="), options


BACK_UP = "storage.back-up"
_COMPRESSED = {"1": ".lzo", "lzo": ".lzo", "gzip": ".gz", "zstd": ".zst"}
_BYTES_PER_SECOND = 300 << 20
_SHARE = 0.6
"""Of its bytes that a compressed backup takes."""
_LEAST = 64 << 10
_NEVER_KEPT = frozenset({"lock", "parent", "pending", "digest"})


@register
class BackUp(Work):
    """Backs up `vmids` onto `storage`; other arguments are the parameters of the call."""

    name = BACK_UP

    def begin(self, job: Job) -> float:
        storage = _target(job)
        job.log(f"INFO: starting new backup job: {job.text('command')}")
        seconds = 2.0
        for vmid in _vmids(job):
            try:
                guest = _guest(job, vmid)
            except ApiError as error:
                _log_failure(job, vmid, error)
                continue
            guest.config.values["lock"] = "backup"
            guest.changed_at = job.cluster.now
            _guests_to_unlock(job).append(vmid)
            taken = sum(one.used for _, one in _volumes(job, guest))
            seconds += 3.0 + taken / _BYTES_PER_SECOND
        job.arguments["storage"] = storage.id
        return seconds

    def finish(self, job: Job) -> None:
        host = job.cluster.host(job.task.node)
        storage = space.find_storage(job.cluster, job.text("storage"))
        for vmid in list(_guests_to_unlock(job)):
            guest = job.cluster.state.guests[vmid]
            _unlock(job, vmid)
            job.log(f"INFO: Starting Backup of VM {vmid} ({guest.kind})")
            try:
                self._save(job, storage, host, guest)
            except ApiError as error:
                _log_failure(job, vmid, error)
            else:
                job.log(f"INFO: Finished Backup of VM {vmid} (00:00:03)")
        if job.arguments.get("_failures"):
            job.log("INFO: Backup job finished with errors")
            raise die("job errors")
        job.log("INFO: Backup job finished successfully")

    def ended(self, job: Job) -> None:
        for vmid in list(_guests_to_unlock(job)):
            _unlock(job, vmid)

    def _save(self, job: Job, storage: Storage, host: Host, guest: Guest) -> None:
        volume = _write(job, storage, host, guest)
        job.log(f"INFO: creating vzdump archive '{volume.name}'")
        template = job.text("notes_template")
        if template:
            volume.notes = notes_of(job.cluster, guest, template)
        volume.protected = bool(job.number("protected"))


def _target(job: Job) -> Storage:
    name = job.text("storage")
    try:
        storage = space.find_storage(job.cluster, name)
        if "backup" not in storage.content:
            raise die(f"can't use storage '{name}' for backups - wrong content type")
        return space.activate(job.cluster, name, job.cluster.host(job.task.node))
    except ApiError as error:
        raise die(f"could not get storage information for '{name}': {error.message}") from None


def _vmids(job: Job) -> list[int]:
    vmids = job.arguments["vmids"]
    return [int(str(vmid)) for vmid in vmids] if isinstance(vmids, list) else []


def _guests_to_unlock(job: Job) -> list[int]:
    found = job.arguments.setdefault("_locked", [])
    return found if isinstance(found, list) else []


def _guest(job: Job, vmid: int) -> Guest:
    guest = job.cluster.state.guests.get(vmid)
    if guest is None:
        raise die(f"unable to find VM '{vmid}'")
    if job.text("mode") == "stop" and _is_kept_running(job, guest):
        raise die(
            "Cannot execute a backup with stop mode on a HA managed and"
            " enabled Service. Use snapshot mode or disable the Service."
        )
    job.cluster.refuse_locked(guest)
    return guest


def _is_kept_running(job: Job, guest: Guest) -> bool:
    prefix = "vm" if guest.kind == "qemu" else "ct"
    managed = job.cluster.state.ha_resources.get(f"{prefix}:{guest.vmid}")
    return managed is not None and managed.options.get("state", "started") == "started"


def _unlock(job: Job, vmid: int) -> None:
    _guests_to_unlock(job).remove(vmid)
    guest = job.cluster.state.guests.get(vmid)
    if guest is not None and guest.lock == "backup":
        del guest.config.values["lock"]
        guest.changed_at = job.cluster.now


def _log_failure(job: Job, vmid: int, error: ApiError) -> None:
    job.arguments["_failures"] = True
    job.log(f"ERROR: Backup of VM {vmid} failed - {error.message}")


def _volumes(job: Job, guest: Guest) -> Iterator[tuple[str, Volume]]:
    for disk in backup_disks(guest):
        volume = space.find(job.cluster, guest.node, disk.volid) if disk.included else None
        if volume is not None:
            yield disk.key, volume


def _write(job: Job, storage: Storage, host: Host, guest: Guest) -> Volume:
    cluster = job.cluster
    archive = _archive(job, guest)
    taken = sum(disk.used for disk in archive.disks)
    compressed = _COMPRESSED.get(job.text("compress"), "")
    size = max(int(taken * _SHARE) if compressed else taken, _LEAST)
    if size > space.space(cluster, storage, host).avail:
        raise die("vma_queue_write: write error - No space left on device")
    blob = cluster.around.blobs.put(pack_archive(archive))
    cluster.around.blobs.hold(blob)
    name, form = _name(cluster.now, storage, guest, compressed)
    volume = Volume(
        storage=storage.id,
        host="" if storage.is_shared else host.name,
        name=name,
        content="backup",
        format=form,
        size=size,
        used=size,
        vmid=guest.vmid,
        created_at=cluster.now,
        blob=blob,
    )
    cluster.state.volumes[space.key(storage, host.name, name)] = volume
    return volume


def _name(now: float, storage: Storage, guest: Guest, compressed: str) -> tuple[str, str]:
    moment = datetime.fromtimestamp(now, UTC)
    if storage.type == "pbs":
        kind = "vm" if guest.kind == "qemu" else "ct"
        return f"backup/{kind}/{guest.vmid}/{moment:%Y-%m-%dT%H:%M:%SZ}", f"pbs-{kind}"
    form = f"{'vma' if guest.kind == 'qemu' else 'tar'}{compressed}"
    return f"backup/{backup_file(guest.kind, guest.vmid, moment, form)}", form


def _archive(job: Job, guest: Guest) -> Archive:
    blobs = job.cluster.around.blobs
    values = {key: value for key, value in guest.config.values.items() if key not in _NEVER_KEPT}
    disks = [
        SavedDisk(
            key=key,
            volid=volume.id,
            format=volume.format,
            size=volume.size,
            used=volume.used,
            content=base64.b64encode(blobs.get(volume.blob)).decode(),
            contents=dict(volume.contents),
        )
        for key, volume in _volumes(job, guest)
    ]
    config = GuestConfig(values)
    text = machine_config_text(config) if guest.kind == "qemu" else container_config_text(config)
    if guest.kind == "qemu":
        text += "".join(
            f"#qmdump#map:{disk.key}:drive-{disk.key}:{disk.volid.partition(':')[0]}"
            f":{disk.format}:\n"
            for disk in disks
        )
    return Archive(guest.kind, guest.vmid, text, values, disks)
