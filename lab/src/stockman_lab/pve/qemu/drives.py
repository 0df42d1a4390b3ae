"""Drives that a request asks for: checked, and then made with the volumes that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from stockman_lab.images.untrusted import UntrustedImage, checked_image
from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.drive import Drive, is_drive, parse_drive, readable_drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import GIB, MIB, new_disk_bytes
from stockman_lab.pve.formats.volume_name import cloud_init_name, storage_of
from stockman_lab.pve.qemu.shelf import Shelf, has_feature
from stockman_lab.pve.storage import Volume

CLOUD_INIT_SIZE = TPM_SIZE = 4 * MIB
IMPORT_A_GIB = (0.5, 2.0)
"""Seconds that a GiB of an imported disk takes."""
_EFI_SIZES = {"2m": 128 << 10, "4m": 528 << 10}


def efi_size(drive: Drive) -> int:
    """Bytes of firmware variables."""
    return _EFI_SIZES[drive.options.get("efitype", "2m")]


def check_sources(shelf: Shelf, sets: Mapping[str, str]) -> None:
    """Refuse drives on storages for something else, and imports of what is no disk."""
    for key in sorted(sets):
        drive = readable_drive(key, sets[key]) if is_drive(key) else None
        if drive is not None:
            _check_source(shelf, drive)


def _check_source(shelf: Shelf, drive: Drive) -> None:
    new = drive.new_disk
    if new and not drive.is_cdrom:
        if not new[0]:
            raise die("no storage ID specified (and no default storage)")
        storage = space.find_storage(shelf.cluster, new[0])
        if "images" not in storage.content:
            raise bad_parameters({"storage": f"storage '{storage.id}' does not support vm images"})
    elif drive.volume and not drive.new_cloud_init:
        content = shelf.content_of(drive.volume)
        if content not in ("images", "iso"):
            raise bad_parameters({drive.key: "content type needs to be 'images' or 'iso'"})
    if drive.import_from and storage_of(drive.import_from):
        content = shelf.content_of(drive.import_from)
        if content not in ("images", "import"):
            raise bad_parameters(
                {
                    drive.key: f"{drive.import_from} has wrong type '{content}'"
                    " - needs to be 'images' or 'import'"
                }
            )


def _silent(_line: str) -> None:
    return None


@dataclass(slots=True)
class DriveMaker:
    """Makes what drives ask for; a failure leaves nothing of the drive behind."""

    shelf: Shelf
    values: Mapping[str, str] = field(default_factory=dict)
    """The configuration that the drives are for."""
    log: Callable[[str], None] = _silent
    made: list[str] = field(default_factory=list)
    """Volumes that came into being."""

    def __call__(self, drive: Drive) -> Drive:
        """The drive with a volume in it, and with its size."""
        if drive.file in ("none", "cdrom"):
            drive.options.pop("size", None)
            return drive
        if drive.new_cloud_init:
            self._make_cloud_init(drive)
        elif drive.new_disk:
            self._make_disk(drive)
        else:
            self._look_at(drive)
            return drive
        drive.options.pop("format", None)
        self.log(f"{drive.key}: successfully created disk '{drive}'")
        return drive

    def _make_cloud_init(self, drive: Drive) -> None:
        storage = self.shelf.storage(drive.new_cloud_init)
        name, form = cloud_init_name(storage.type, self.shelf.vmid, drive.options.get("format", ""))
        self._keep(drive, self.shelf.allocate(storage, CLOUD_INIT_SIZE, form, name))
        drive.options["media"] = "cdrom"

    def _make_disk(self, drive: Drive) -> None:
        storage_id, gibibytes = drive.new_disk or ("", "")
        storage = self.shelf.storage(storage_id)
        source = drive.options.pop("import-from", "")
        form = drive.options.get("format", "")
        if source:
            volume = self._imported(drive, source, storage.id)
            size = volume.size
        elif drive.key == "efidisk0":
            volume = self.shelf.allocate(storage, efi_size(drive), form)
            size = volume.size
            if drive.options.get("pre-enrolled-keys") == "1" and self.shelf.cluster.is_nine:
                drive.options["ms-cert"] = "2023k"
        else:
            size = TPM_SIZE if drive.key == "tpmstate0" else self._asked_size(gibibytes)
            volume = self.shelf.allocate(storage, size, form)
        if self.values.get("template") == "1":
            self.shelf.make_base(volume)
        self._keep(drive, volume)
        drive.size = size

    def _asked_size(self, gibibytes: str) -> int:
        try:
            return new_disk_bytes(gibibytes)
        except FormatError as error:
            raise die(error.message) from None

    def _keep(self, drive: Drive, volume: Volume) -> None:
        drive.file = volume.id
        self.made.append(volume.id)

    def _look_at(self, drive: Drive) -> None:
        if not drive.volume:
            return
        self.shelf.storage(storage_of(drive.volume))
        name = self.shelf.name_of(drive.volume)
        form = drive.options.get("format", "")
        if form and form != name.format:
            raise die(
                f"drive '{drive.key}' - volume '{drive.volume}' - 'format={form}' option different"
                f" from storage format '{name.format}'"
            )
        found = self.shelf.find(drive.volume)
        if found is None:
            raise die(f"volume {drive.volume} does not exist")
        drive.size = found.size

    def _imported(self, drive: Drive, source: str, storage: str) -> Volume:
        try:
            return self._import(drive, source, storage)
        except ApiError as error:
            raise die(f"cannot import from '{source}' - {error.message}") from None

    def _import(self, drive: Drive, source: str, storage_id: str) -> Volume:
        shelf = self.shelf
        volid = source if storage_of(source) else shelf.volume_at(source)
        found = shelf.find(volid) if volid else None
        if found is None:
            raise die(f"could not get size of {source}")
        storage = shelf.storage(storage_id)
        form = shelf.form_for(storage, drive.options.get("format") or found.format)
        if found.content != "import":
            self._check_owner(found)
            return shelf.copy(found, storage, form)
        path = f"{space.find_storage(shelf.cluster, found.storage).path}/{found.name}"
        content = shelf.cluster.around.blobs.get(found.blob)
        try:
            image = checked_image(content, path, found.format)
        except UntrustedImage as error:
            raise die(str(error)) from None
        volume = shelf.copy(found, storage, form, image.virtual_size)
        volume.used = max(volume.used, min(len(content), volume.size))
        return volume

    def _check_owner(self, source: Volume) -> None:
        shelf = self.shelf
        if "cloudinit" in source.name:
            raise die("cannot import from cloudinit disk")
        owner = shelf.cluster.state.guests.get(source.vmid)
        if owner is not None and owner.node != shelf.host.name:
            raise die(f"owner VM {source.vmid} not on local node")
        if not has_feature(shelf, "copy", source.id):
            raise die(f"cannot import from '{source.id}' - full clone feature is not supported")

    def undo(self) -> None:
        """Destroy everything that was made."""
        free_all(self.shelf, self.made)


def free_all(shelf: Shelf, volumes: Iterable[str]) -> None:
    """Destroy volumes, one after the other."""
    for volid in volumes:
        shelf.free(volid)


def import_seconds(shelf: Shelf, sets: Mapping[str, str]) -> float:
    """How long the copying takes that drives of a request ask for."""
    dice = shelf.cluster.around.dice
    seconds = 0.0
    for key in sorted(sets):
        source = parse_requested_drive(key, sets[key]).import_from if is_drive(key) else ""
        found = shelf.find(source) if storage_of(source) else None
        if found is not None:
            seconds += found.size / GIB * dice.between(*IMPORT_A_GIB)
    return seconds


def leave_behind(shelf: Shelf, sets: Mapping[str, str]) -> None:
    """Volumes of drives of which nobody wrote down any more that they are the guest's."""
    maker = DriveMaker(shelf, sets)
    for key in sorted(sets):
        drive = readable_drive(key, sets[key]) if is_drive(key) else None
        if drive is None or not (drive.new_disk or drive.new_cloud_init):
            continue
        try:
            maker(drive)
        except ApiError:
            return
    for volid in maker.made:
        found = shelf.find(volid)
        if found is not None:
            shelf.spoil(found)


def drives_of(values: Mapping[str, str]) -> list[Drive]:
    """Drives of a configuration, sorted by their keys."""
    drives = (readable_drive(key, values[key]) for key in sorted(values) if is_drive(key))
    return [drive for drive in drives if drive is not None]


def disks_of(values: Mapping[str, str]) -> list[Drive]:
    """Drives with volumes of the guest's: all but optical drives for the user's media."""
    return [drive for drive in drives_of(values) if drive.volume and not drive.is_plain_cdrom]


def parse_requested_drive(key: str, text: str) -> Drive:
    """A drive of a request; raises `ApiError`."""
    try:
        return parse_drive(key, text)
    except FormatError as error:
        raise die(error.text) from None


def parse_stored_drive(key: str, text: str) -> Drive:
    """A drive of a configuration; raises `ApiError` where nobody can read it."""
    try:
        return parse_drive(key, text)
    except FormatError:
        raise die(f"unable to parse drive options for '{key}'") from None
