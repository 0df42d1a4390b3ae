"""Virtual machines that go to another host, running or not, with disks that only this one has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.drive import is_unused
from stockman_lab.pve.formats.hardware import is_socket, parse_pci, parse_usb
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.formats.sizes import GIB
from stockman_lab.pve.formats.volume_name import new_disk, storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_rows import memory_of, used_memory_of
from stockman_lab.pve.host import Host
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.qemu.power import notice_change, shelf_of
from stockman_lab.pve.qemu.shelf import Shelf, grown
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.workers import Job, register


@dataclass(slots=True)
class LocalDisk:
    """A volume that only the machine's host sees."""

    volid: str
    size: int = 0
    used: int = 0
    key: str = ""
    is_cdrom: bool = False
    is_cloud_init: bool = False
    is_unused: bool = False
    is_attached: bool = False


def local_disks(shelf: Shelf, guest: Guest) -> list[LocalDisk]:
    """Volumes of a machine on storages that are not shared, each once, sorted."""
    config = guest.config
    found: dict[str, LocalDisk] = {}
    for values in (*config.snapshots.values(), config.pending, config.values):
        for drive in drives_of(values):
            if not drive.volume or shelf.is_shared(drive.volume):
                continue
            if drive.options.get("shared") == "1":
                continue
            found[drive.volume] = LocalDisk(
                drive.volume,
                key=drive.key,
                is_cdrom=drive.is_cdrom,
                is_cloud_init=drive.is_cloud_init,
                is_attached=values is config.values and drive.key != "tpmstate0",
            )
        kept = [values[key] for key in values if is_unused(key) or key == "vmstate"]
        for volid in kept:
            if not shelf.is_shared(volid):
                found.setdefault(volid, LocalDisk(volid, is_unused=True))
    for one in found.values():
        volume = shelf.find(one.volid)
        if volume is not None:
            one.size, one.used = volume.size, volume.used
    return [found[volid] for volid in sorted(found)]


def bound_to_host(values: Mapping[str, str]) -> list[str]:
    """Devices of the host that the machine uses by themselves, not by a mapping; sorted."""
    return [key for key in sorted(values) if _is_bound(key, values[key])]


def _is_bound(key: str, value: str) -> bool:
    if is_indexed(key, "hostpci"):
        return not parse_pci(value).mapping
    if is_indexed(key, "usb"):
        device = parse_usb(value)
        return not device.is_spice and not device.mapping
    if is_indexed(key, "serial"):
        return not is_socket(value)
    return is_indexed(key, "parallel") or key == "ivshmem"


def held_while_running(
    values: Mapping[str, str], mappings: Mapping[str, Mapping[str, Section]]
) -> list[str]:
    """Keys of a machine with mapped devices that do not go with it while it runs; sorted."""
    return [
        key
        for key, (kind, name) in mapped_resources(values).items()
        if not is_live(mappings, kind, name)
    ]


def is_live(mappings: Mapping[str, Mapping[str, Section]], kind: str, name: str) -> bool:
    """Whether devices of a mapping take part in a live migration; those of USB never do."""
    found = mappings.get(kind, {}).get(name)
    live_migration_capable = (
        found.options.get("live-migration-capable") if found is not None else None
    )
    return kind == "pci" and str(live_migration_capable) == "1"


def is_mapped_on(
    mappings: Mapping[str, Mapping[str, Section]], kind: str, name: str, host: str
) -> bool:
    """Whether a mapping has a device on a host."""
    found = mappings.get(kind, {}).get(name)
    entries = found.lists.get("map", []) if found is not None else []
    return any(f"node={host}" in entry.split(",") for entry in entries)


def mapped_resources(values: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Kind and name of the mappings that keys of a machine use."""
    found = {}
    for key in sorted(values):
        if is_indexed(key, "hostpci") and parse_pci(values[key]).mapping:
            found[key] = ("pci", parse_pci(values[key]).mapping)
        elif is_indexed(key, "usb") and parse_usb(values[key]).mapping:
            found[key] = ("usb", parse_usb(values[key]).mapping)
    return found


@dataclass(slots=True)
class StorageMap:
    """Pairs of storages, and one for all others."""

    entries: dict[str, str] = field(default_factory=dict)
    default: str = ""
    identity: bool = False
    """Whether all others keep their storage by name."""

    def target_of(self, storage: str) -> str:
        return self.entries.get(storage) or self.default or storage


def parse_storage_map(text: str) -> StorageMap:
    """`1` keeps names, `a:b` sends one storage to another, a name alone is for all others."""
    storage_map = StorageMap()
    for part in split_list(text):
        source, colon, target = part.partition(":")
        if part == "1":
            storage_map.identity = True
        elif colon:
            if source in storage_map.entries:
                raise _bad_storage_map(f"duplicate mapping for source '{source}'")
            storage_map.entries[source] = target
        else:
            if storage_map.default:
                raise _bad_storage_map("default target ID can only be provided once")
            storage_map.default = part
    if storage_map.identity and (storage_map.entries or storage_map.default):
        raise _bad_storage_map("identity mapping cannot be combined with other mappings")
    return storage_map


def _bad_storage_map(why: str) -> ApiError:
    return bad_parameters({"targetstorage": f"failed to parse storage map: {why}\n"})


_ALWAYS, _A_GIB, _MEMORY_A_GIB = (1.0, 3.0), (1.0, 6.0), (0.5, 1.5)
_MOVABLE = frozenset({"dir", "btrfs", "zfspool", "lvmthin", "lvm"})
_ABORTED = "migration aborted"


def check_storages(cluster: Cluster, guest: Guest, target: Host) -> None:
    """Refuse a host that lacks a storage of the machine."""
    source = cluster.state.hosts[guest.node]
    for drive in drives_of(guest.config.values):
        if not drive.volume:
            continue
        name = storage_of(drive.volume)
        storage = space.usable(cluster, name, source)
        space.usable(cluster, name, target)
        content = shelf_of(cluster, guest).content_of(drive.volume)
        if content not in storage.content:
            raise die(
                f"{drive.volume}: content type '{content}' is not available on storage '{name}'"
            )


@register
class Migrate(GuestWork):
    """Brings a machine to another host."""

    name: ClassVar[str] = "qemu.migrate"

    def check(self, job: Job, guest: Guest) -> float:
        try:
            seconds = self._prepared(job, guest)
        except ApiError as error:
            job.log(f"ERROR: {error.message}")
            job.log(f"ERROR: migration aborted (duration 00:00:00): {error.message}")
            raise die(_ABORTED) from None
        guest.config.values["lock"] = "migrate"
        job.arguments["locked"] = True
        return seconds

    def do(self, job: Job, guest: Guest) -> None:
        cluster, target = job.cluster, job.cluster.state.hosts[job.text("target")]
        try:
            _check_target(cluster, guest, target)
            moves = list(self._moves(job, guest))
            _check_space(cluster, target, moves)
        except ApiError as error:
            job.log(f"ERROR: {error.message}")
            raise die(_ABORTED) from None
        for disk, storage in moves:
            _move(job, guest, target, disk, storage)
        guest.config.values.pop("lock", None)
        guest.node, guest.changed_at = target.name, cluster.now
        if guest.is_running:
            target.next_pid += 1
            guest.pid = target.next_pid
            notice_change(cluster, guest)
        guest.busy_until = 0.0
        cluster.changed()
        job.log("migration finished successfully (duration 00:00:00)")

    def abort(self, job: Job) -> None:
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and job.arguments.get("locked") and guest.lock == "migrate":
            del guest.config.values["lock"]

    def ended(self, job: Job) -> None:
        super().ended(job)
        self.abort(job)

    def _prepared(self, job: Job, guest: Guest) -> float:
        cluster, target = job.cluster, job.cluster.state.hosts[job.text("target")]
        cluster.refuse_locked(guest)
        if guest.is_running and not job.arguments.get("online"):
            raise die("can't migrate running VM without --online")
        devices = bound_to_host(guest.config.values)
        if devices and not job.arguments.get("force"):
            raise die(f"can't migrate VM which uses local devices: {', '.join(devices)}")
        _check_mapped(cluster, guest, target)
        _check_target(cluster, guest, target)
        job.log(f"starting migration of VM {guest.vmid} to node '{target.name}' ({target.address})")
        moves = list(self._moves(job, guest))
        _check_space(cluster, target, moves)
        size = sum(disk.size for disk, _ in moves)
        dice = cluster.around.dice
        seconds = dice.between(*_ALWAYS) + size / GIB * dice.between(*_A_GIB)
        return seconds + used_memory_of(guest) / GIB * dice.between(*_MEMORY_A_GIB)

    def _moves(self, job: Job, guest: Guest) -> Iterator[tuple[LocalDisk, Storage]]:
        """Disks that have to be brought along, and the storages that get them."""
        shelf, places = shelf_of(job.cluster, guest), _map(job)
        disks = local_disks(shelf, guest)
        live_disks = bool(job.arguments.get("with-local-disks"))
        refused = [
            f"can't migrate local disk '{disk.volid}': {why}"
            for disk in disks
            for why in _refusals(shelf, guest, disk, live_disks=live_disks)
        ]
        if refused:
            for line in refused:
                job.log(line)
            raise die("Problem found while scanning volumes - can't migrate VM - check log")
        target = job.cluster.state.hosts[job.text("target")]
        for disk in disks:
            source = space.find_storage(job.cluster, storage_of(disk.volid))
            if source.type not in _MOVABLE:
                raise _scan_problem(
                    f"can't migrate '{disk.volid}' - storage type '{source.type}' not supported"
                )
            base = shelf.name_of(disk.volid).base
            if base:
                raise _scan_problem(f"can't migrate '{disk.volid}' as it's a clone of '{base}'")
            storage = space.usable(job.cluster, places.target_of(source.id), target)
            if "images" not in storage.content:
                raise _scan_problem(
                    f"{disk.volid}: content type 'images' is not available on storage"
                    f" '{storage.id}'"
                )
            yield disk, storage


def _check_mapped(cluster: Cluster, guest: Guest, target: Host) -> None:
    mappings, values = cluster.state.mappings, guest.config.values
    mapped = mapped_resources(values)
    missing = [
        key
        for key, (kind, name) in mapped.items()
        if not is_mapped_on(mappings, kind, name, target.name)
    ]
    if missing:
        raise die(f"can't migrate to '{target.name}': missing mapped devices {', '.join(missing)}")
    held = [f"{key}:{mapped[key][1]}" for key in held_while_running(values, mappings)]
    if guest.is_running and held:
        raise die(
            f"can't live migrate running VM which uses following mapped devices: {', '.join(held)}"
        )


def _scan_problem(text: str) -> ApiError:
    return die(f"Problem found while scanning volumes - {text}")


def _map(job: Job) -> StorageMap:
    return parse_storage_map(job.text("targetstorage"))


def _check_target(cluster: Cluster, guest: Guest, target: Host) -> None:
    if not target.has_power:
        raise die("Can't connect to destination address using public key")
    if guest.is_running:
        used = sum(memory_of(one) for one in cluster.guests_on(target.name) if one.is_running)
        if used + memory_of(guest) > target.memory + target.swap:
            raise die("remote command failed with exit code 255")


def _refusals(shelf: Shelf, guest: Guest, disk: LocalDisk, *, live_disks: bool) -> Iterator[str]:
    if disk.is_cdrom and not disk.is_cloud_init:
        yield "local cdrom image"
        return
    if not shelf.owns(disk.volid):
        owner = shelf.name_of(disk.volid).owner
        yield f"owned by other VM (owner = VM {owner or ''})"
        return
    volume = shelf.find(disk.volid)
    if volume is None:
        yield f"unable to determine size for volume '{disk.volid}'"
        return
    if volume.snapshots and guest.is_running:
        yield "online storage migration not possible if non-replicated snapshot exists"
    elif volume.snapshots and not _keeps_snapshots(shelf, disk.volid):
        yield "non-migratable snapshot exists"
    if shelf.clones_of(volume):
        yield "referenced by linked clone(s)"
    if guest.is_running and disk.is_attached and not live_disks:
        yield "can't live migrate attached local disks without with-local-disks option"


def _keeps_snapshots(shelf: Shelf, volid: str) -> bool:
    storage = space.find_storage(shelf.cluster, storage_of(volid))
    return storage.type == "zfspool" or shelf.name_of(volid).format == "qcow2"


def _check_space(cluster: Cluster, target: Host, moves: list[tuple[LocalDisk, Storage]]) -> None:
    for storage in {storage.id: storage for _, storage in moves}.values():
        wanted = sum(disk.used for disk, place in moves if place.id == storage.id)
        if wanted > space.space(cluster, storage, target).avail:
            volid = next(disk.volid for disk, place in moves if place.id == storage.id)
            raise die(
                f"storage migration for '{volid}' to storage '{storage.id}' failed - no space left"
            )


def _move(job: Job, guest: Guest, target: Host, disk: LocalDisk, storage: Storage) -> None:
    cluster = job.cluster
    volume = space.find(cluster, guest.node, disk.volid)
    if volume is None:
        return
    names = {one.name for one in space.volumes_on(cluster, storage, target.name)}
    shelf = Shelf(cluster, target, guest.vmid)
    form = shelf.form_for(storage, volume.format)
    same_kind = space.find_storage(cluster, volume.storage).type == storage.type
    del cluster.state.volumes[f"{volume.host}/{volume.id}"]
    if volume.name in names or not same_kind:
        volume.name = new_disk(storage.type, names, guest.vmid, form)
        volume.format = form
    volume.storage, volume.host = storage.id, "" if storage.is_shared else target.name
    volume.size = grown(storage, volume.size)
    cluster.state.volumes[f"{volume.host}/{volume.id}"] = volume
    job.log(f"volume '{disk.volid}' is '{volume.id}' on the target")
    _rewrite(guest, disk.volid, volume.id)


def _rewrite(guest: Guest, old: str, new: str) -> None:
    config = guest.config
    for values in (config.values, config.pending, *config.snapshots.values()):
        for key, value in values.items():
            if value == old and (is_unused(key) or key == "vmstate"):
                values[key] = new
        for drive in drives_of(values):
            if drive.file == old:
                drive.file = new
                values[drive.key] = str(drive)
