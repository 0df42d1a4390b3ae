"""Volumes as one guest on one host sees them: made, copied, linked, renamed and destroyed."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import MIB
from stockman_lab.pve.formats.volume_name import (
    VolumeName,
    base_name,
    default_format,
    image_name,
    name_of_clone,
    new_disk,
    parse_volume_name,
    storage_of,
)
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage, Volume

_GRAIN = {"zfspool": MIB, "rbd": MIB, "lvm": 4 * MIB, "lvmthin": 4 * MIB}
"""What sizes of volumes are a multiple of."""
_FORMATS = {"zfspool": ("raw",), "rbd": ("raw",), "lvmthin": ("raw",), "lvm": ("raw", "qcow2")}
_FILES = ("raw", "qcow2", "vmdk")
_FOLDERS = {"template/iso/": "iso/", "template/cache/": "vztmpl/", "import/": "import/"}
_FOLDERS |= {"images/": "", "snippets/": "snippets/", "dump/": "backup/"}


def grown(storage: Storage, size: int) -> int:
    """The size that a storage makes of what was asked for."""
    grain = _GRAIN.get(storage.type, 1)
    return -(-size // grain) * grain


@dataclass(frozen=True, slots=True)
class Shelf:
    """Storages of a host, and the guest that new volumes belong to."""

    cluster: Cluster
    host: Host
    vmid: int

    # -- looking -------------------------------------------------------------------------------

    def storage(self, name: str) -> Storage:
        """A storage that can be used on this host."""
        return space.usable(self.cluster, name, self.host)

    def find(self, volid: str) -> Volume | None:
        """A volume; None: there is none."""
        return space.find(self.cluster, self.host.name, volid)

    def name_of(self, volid: str) -> VolumeName:
        """What the name of a volume says."""
        storage = space.find_storage(self.cluster, storage_of(volid))
        try:
            return parse_volume_name(storage.type, volid.partition(":")[2])
        except FormatError as error:
            raise die(error.message) from None

    def content_of(self, volume: str) -> str:
        """Content of a volume by its name."""
        return self.name_of(volume).content

    def volume_at(self, path: str) -> str:
        """The volume at a path of the host, or nothing."""
        for storage in self.cluster.state.storages.values():
            inside = path.removeprefix(f"{storage.path}/")
            if not storage.path or inside == path:
                continue
            for folder, prefix in _FOLDERS.items():
                if inside.startswith(folder):
                    return f"{storage.id}:{prefix}{inside.removeprefix(folder)}"
        return ""

    def owns(self, volid: str) -> bool:
        """Whether a volume belongs to the guest, and its storage exists."""
        storage = self.cluster.state.storages.get(storage_of(volid) or "")
        if storage is None:
            return False
        try:
            return parse_volume_name(storage.type, volid.partition(":")[2]).owner == self.vmid
        except FormatError:
            return False

    def is_shared(self, volid: str) -> bool:
        """Whether all hosts see a volume."""
        return space.find_storage(self.cluster, storage_of(volid)).is_shared

    def clones_of(self, volume: Volume) -> list[Volume]:
        """Linked clones of a volume."""
        return [
            one
            for one in self.cluster.state.volumes.values()
            if (one.parent, one.storage, one.host) == (volume.name, volume.storage, volume.host)
        ]

    def _own_names(self, storage: Storage) -> list[str]:
        """Names of the guest's volumes on a storage."""
        name = "" if storage.is_shared else self.host.name
        return [
            volume.name
            for volume in self.cluster.state.volumes.values()
            if volume.vmid == self.vmid and volume.storage == storage.id and volume.host == name
        ]

    # -- making --------------------------------------------------------------------------------

    def form_for(self, storage: Storage, wanted: str) -> str:
        """The format of a copy: the wanted one where the storage has it."""
        known = _FORMATS.get(storage.type, _FILES)
        return wanted if wanted in known else default_format(storage.type)

    def allocate(self, storage: Storage, size: int, form: str = "", name: str = "") -> Volume:
        """A new empty volume; a name is given without its folder."""
        form = form or default_format(storage.type)
        existing = self._own_names(storage)
        try:
            chosen = (
                image_name(storage.type, self.vmid, name)
                if name
                else new_disk(storage.type, existing, self.vmid, form)
            )
        except FormatError as error:
            raise die(error.message) from None
        new = space.NewVolume(chosen, "images", form, grown(storage, size), self.vmid)
        return space.allocate(self.cluster, storage, self.host, new)

    def copy(self, source: Volume, storage: Storage, form: str, size: int = 0) -> Volume:
        """A full copy of a volume, with everything that guests wrote on it."""
        allocate = self.allocate(storage, size or source.size, form)
        self._take_over(source, allocate)
        written = min(source.used, allocate.size)
        allocate.used = max(allocate.used, written)
        return allocate

    def link(self, source: Volume) -> Volume:
        """A linked clone of a base volume."""
        storage = space.find_storage(self.cluster, source.storage)
        existing = self._own_names(storage)
        try:
            name = name_of_clone(storage.type, source.name, existing, self.vmid)
        except FormatError as error:
            raise die(error.message) from None
        form = parse_volume_name(storage.type, name).format
        new = space.NewVolume(name, "images", form, 0, self.vmid, parent=source.name)
        allocate = space.allocate(self.cluster, storage, self.host, new)
        allocate.size = source.size
        self._take_over(source, allocate)
        return allocate

    def _take_over(self, source: Volume, made: Volume) -> None:
        if source.blob:
            self.cluster.around.blobs.hold(source.blob)
        made.blob = source.blob
        made.contents = copy.deepcopy(source.contents)

    def make_base(self, volume: Volume) -> None:
        """Make a volume one that others can be linked clones of."""
        storage = space.find_storage(self.cluster, volume.storage)
        try:
            name = base_name(storage.type, volume.name)
        except FormatError as error:
            raise die(error.message) from None
        space.rename(self.cluster, volume, name)

    def spoil(self, volume: Volume) -> None:
        """Let nothing be on a volume that is whole: whoever filled it did not live to the end."""
        if volume.blob:
            self.cluster.around.blobs.release(volume.blob)
        volume.blob = ""
        volume.contents = {}

    def free(self, volid: str) -> None:
        """Destroy a volume; one that is gone already is nobody's trouble."""
        found = self.find(volid)
        if found is not None:
            space.free(self.cluster, found)


_FEATURES = {
    "snapshot": {"zfspool", "rbd", "lvmthin", "btrfs"},
    "template": {"zfspool", "rbd", "lvmthin", "btrfs"},
    "clone": {"zfspool", "rbd", "lvmthin", "btrfs"},
}


def has_feature(shelf: Shelf, feature: str, volid: str, snapshot: str = "") -> bool:
    """Whether a storage can do something with a volume: snapshot, template, clone, copy, rename."""
    if not storage_of(volid):
        return False
    storage = space.find_storage(shelf.cluster, storage_of(volid))
    name = shelf.name_of(volid)
    if feature == "copy":
        return not snapshot or storage.type != "lvm"
    if feature == "rename":
        return not name.is_base
    if feature == "clone":
        linkable = storage.type in _FEATURES["clone"] or storage.is_files
        return linkable and name.is_base and not snapshot
    if storage.is_files and storage.type != "btrfs":
        return name.format == "qcow2" if feature == "snapshot" else not name.is_base
    if feature == "template" and name.is_base:
        return False
    return storage.type in _FEATURES.get(feature, set())
