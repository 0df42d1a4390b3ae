"""Files of a host: those of its storages are volumes, configurations are what the API shows."""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import FOLDERS, parse_volume_name
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import container_config_text, machine_config_text
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.storages.places import folder_of
from stockman_lab.pve.storages.receiving import format_of

_RAW = "lxc."


def guest_file(cluster: Cluster, node: str, vmid: int, kind: str) -> bytes | None:
    """The file of a guest. None: there is none."""
    guest = _guest(cluster, node, vmid, kind)
    if guest is None:
        return None
    text = container_config_text if kind == "lxc" else machine_config_text
    return text(guest.config).encode("utf-8", "surrogatepass")


def write_guest_file(cluster: Cluster, node: str, vmid: int, kind: str, content: bytes) -> bool:
    """Take over a file; only settings of LXC itself may differ. Returns whether it was."""
    guest = _guest(cluster, node, vmid, kind)
    if guest is None or kind != "lxc" or not cluster.is_quorate:
        return False
    before = container_config_text(guest.config)
    lines = content.decode("utf-8", "surrogateescape").splitlines()
    if _without_raw(lines) != _without_raw(before.splitlines()):
        return False
    pairs = (line.split(":", 1) for line in lines if _is_raw(line))
    guest.config.raw = [[name.strip(), value.strip()] for name, value in pairs]
    guest.changed_at = cluster.now
    cluster.changed()
    return True


def _is_raw(line: str) -> bool:
    return line.startswith(_RAW) and ":" in line and not line.startswith("lxc.environment.runtime")


def _without_raw(lines: list[str]) -> list[str]:
    return [line for line in lines if line and not _is_raw(line)]


def _guest(cluster: Cluster, node: str, vmid: int, kind: str) -> Guest | None:
    guest = cluster.state.guests.get(vmid)
    return guest if guest is not None and (guest.node, guest.kind) == (node, kind) else None


ROOT = "root"
_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_FOLDERS = (
    *("/bin", "/boot", "/dev", "/etc", "/etc/pve", "/etc/pve/lxc", "/etc/pve/qemu-server"),
    *("/home", "/mnt", "/mnt/pve", "/opt", "/root", "/srv", "/tmp", "/usr", "/usr/bin"),
    *("/usr/sbin", "/var", "/var/lib", "/var/tmp"),
)
_FOR_ALL = ("/tmp", "/var/tmp")
_CONTENTS = ("iso", "vztmpl", "import", "snippets", "backup")
_GUEST_FILE = re.compile(r"/etc/pve/(?:nodes/([^/]+)/)?(lxc|qemu-server)/(\d+)\.conf", re.ASCII)
_LONGEST = 4096


class FileTrouble(Exception):
    """What the system says instead."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


MISSING = "No such file or directory"
IS_FOLDER = "Is a directory"
NO_FOLDER = "Not a directory"
DENIED = "Permission denied"
EXISTS = "File exists"
NOT_EMPTY = "Directory not empty"
FULL = "No space left on device"
READ_ONLY = "Operation not permitted"


@dataclass(frozen=True, slots=True)
class Facts:
    """What `stat` says of a file or a folder."""

    size: int
    mode: int
    """With its kind."""
    changed_at: float

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a storage keeps a file."""

    storage: Storage
    name: str
    """Of the volume."""


class HostFiles:
    """The files of one host, as one user sees them."""

    def __init__(self, cluster: Cluster, host: Host, user: str = ROOT) -> None:
        self._cluster = cluster
        self._host = host
        self.user = user

    def for_user(self, user: str) -> HostFiles:
        """The same files for somebody else."""
        return HostFiles(self._cluster, self._host, user)

    @property
    def home(self) -> str:
        return "/root" if self.user == ROOT else f"/home/{self.user}"

    def absolute(self, path: str) -> str:
        """A path from the root on, without detours."""
        if len(path) > _LONGEST:
            raise FileTrouble("File name too long")
        joined = posixpath.normpath(posixpath.join(self.home, path or "."))
        return f"/{joined.lstrip('/')}"

    # -- looking -------------------------------------------------------------------------------

    def facts(self, path: str) -> Facts:
        """What is at a path; refused where nothing is."""
        path = self.absolute(path)
        volume = self._volume(path)
        if volume is not None:
            size = volume.size if volume.content in ("images", "rootdir") else volume.used
            return self._file(path, size, volume.created_at)
        if path in self._host.files:
            size = len(self._cluster.around.blobs.get(self._host.files[path]))
            return self._file(path, size, self._host.booted_at)
        text = self._guest_text(path)
        if text is not None:
            return Facts(len(text), stat.S_IFREG | 0o640, self._cluster.now)
        if self._is_folder(path):
            mode = self._host.modes.get(path, _FOLDER_MODE)
            return Facts(4096, stat.S_IFDIR | mode, self._host.booted_at)
        self._check_way(path)
        raise FileTrouble(MISSING)

    def is_file(self, path: str) -> bool:
        """Whether a file is there."""
        try:
            return not self.facts(path).is_folder
        except FileTrouble:
            return False

    def is_folder(self, path: str) -> bool:
        """Whether a folder is there."""
        return self._is_folder(self.absolute(path))

    def listed(self, path: str) -> list[str]:
        """Names in a folder, sorted."""
        path = self.absolute(path)
        if not self.facts(path).is_folder:
            raise FileTrouble(NO_FOLDER)
        prefix = path.rstrip("/") + "/"
        rows = {
            one.removeprefix(prefix).split("/")[0]
            for one in (*self._paths(), *self._folders())
            if one.startswith(prefix)
        }
        return sorted(rows - {""})

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        path = self.absolute(path)
        if self.facts(path).is_folder:
            raise FileTrouble(IS_FOLDER)
        volume = self._volume(path)
        blobs = self._cluster.around.blobs
        if volume is not None:
            return blobs.get(volume.blob)
        if path in self._host.files:
            return blobs.get(self._host.files[path])
        text = self._guest_text(path)
        return text if text is not None else b""

    # -- changing ------------------------------------------------------------------------------

    def write(self, path: str, content: bytes) -> None:
        """Make a file, or put another content in place of its own."""
        path = self.absolute(path)
        self._check_may_write(path)
        if self._is_folder(path):
            raise FileTrouble(IS_FOLDER)
        if path.startswith("/etc/pve/"):
            self._write_guest(path, content)
            return
        folder = posixpath.dirname(path)
        if not self._is_folder(folder):
            self._check_way(path)
            raise FileTrouble(MISSING)
        place = self._place(path)
        if place is not None:
            self._keep_volume(place, content)
        else:
            self._keep_file(path, content)

    def make_folder(self, path: str, *, parents: bool = False) -> None:
        """Make a folder; with parents, one that is there already is fine."""
        path = self.absolute(path)
        if self._is_folder(path):
            if parents:
                return
            raise FileTrouble(EXISTS)
        if self.is_file(path):
            raise FileTrouble(EXISTS)
        self._check_may_write(path)
        above = posixpath.dirname(path)
        if not self._is_folder(above):
            if not parents:
                raise FileTrouble(MISSING)
            self.make_folder(above, parents=True)
        self._host.directories.append(path)

    def remove(self, path: str) -> None:
        """Remove a file."""
        path = self.absolute(path)
        if self.facts(path).is_folder:
            raise FileTrouble(IS_FOLDER)
        self._check_may_write(path)
        volume = self._volume(path)
        if volume is not None:
            space.free(self._cluster, volume)
        elif path in self._host.files:
            self._cluster.around.blobs.release(self._host.files.pop(path))
        else:
            raise FileTrouble(READ_ONLY)
        self._host.modes.pop(path, None)

    def remove_folder(self, path: str) -> None:
        """Remove a folder with nothing in it."""
        path = self.absolute(path)
        if not self.facts(path).is_folder:
            raise FileTrouble(NO_FOLDER)
        self._check_may_write(path)
        if self.listed(path):
            raise FileTrouble(NOT_EMPTY)
        if path not in self._host.directories:
            raise FileTrouble("Device or resource busy")
        self._host.directories.remove(path)

    def change_mode(self, path: str, mode: int) -> None:
        """Change permissions."""
        path = self.absolute(path)
        self.facts(path)
        if self.user != ROOT and not self._is_own(path):
            raise FileTrouble(READ_ONLY)
        self._host.modes[path] = mode & 0o7777

    # -- storages ------------------------------------------------------------------------------

    def _storages(self) -> Iterator[Storage]:
        for storage in self._cluster.state.storages.values():
            if storage.is_files and storage.path and storage.is_on(self._host.name):
                yield storage

    def _place(self, path: str) -> _Place | None:
        for storage in self._storages():
            for content in _CONTENTS:
                prefix = f"{folder_of(storage, content)}/"
                if path.startswith(prefix):
                    found = self._place_named(storage, f"{content}/{path.removeprefix(prefix)}")
                    if found is not None:
                        return found
            prefix = f"{folder_of(storage, 'images')}/"
            if path.startswith(prefix):
                return self._image(storage, path.removeprefix(prefix))
        return None

    def _place_named(self, storage: Storage, name: str) -> _Place | None:
        try:
            parsed = parse_volume_name(storage.type, name)
        except FormatError:
            return None
        return _Place(storage, name) if f"{parsed.content}/{parsed.name}" == name else None

    def _image(self, storage: Storage, inside: str) -> _Place | None:
        """A disk by its folder and file; a linked clone's name begins with that of its base."""
        for volume in space.volumes_on(self._cluster, storage, self._host.name):
            if volume.name == inside or volume.name.endswith(f"/{inside}"):
                return _Place(storage, volume.name)
        return None

    def _volume(self, path: str) -> Volume | None:
        place = self._place(path)
        if place is None:
            return None
        return space.find(self._cluster, self._host.name, f"{place.storage.id}:{place.name}")

    def _keep_volume(self, place: _Place, content: bytes) -> None:
        cluster, host, storage = self._cluster, self._host, place.storage
        old = space.find(cluster, host.name, f"{storage.id}:{place.name}")
        room = space.space(cluster, storage, host).avail + (old.used if old is not None else 0)
        if len(content) > room:
            raise FileTrouble(FULL)
        blob = cluster.around.blobs.put(content)
        cluster.around.blobs.hold(blob)
        if old is not None:
            cluster.around.blobs.release(old.blob)
            old.blob, old.used, old.size = blob, len(content), len(content)
            return
        parsed = parse_volume_name(storage.type, place.name)
        cluster.state.volumes[space.key(storage, host.name, place.name)] = Volume(
            storage=storage.id,
            host="" if storage.is_shared else host.name,
            name=place.name,
            content=parsed.content,
            format=format_of(parsed.content, parsed.name),
            size=len(content),
            used=len(content),
            vmid=parsed.owner or 0,
            created_at=cluster.now,
            blob=blob,
        )

    def _keep_file(self, path: str, content: bytes) -> None:
        blobs = self._cluster.around.blobs
        blob = blobs.put(content)
        blobs.hold(blob)
        old = self._host.files.get(path)
        self._host.files[path] = blob
        if old is not None:
            blobs.release(old)

    # -- configurations ------------------------------------------------------------------------

    def _guest_text(self, path: str) -> bytes | None:
        if self.user != ROOT:
            return None
        named = _GUEST_FILE.fullmatch(path)
        if named is None:
            return None
        kind = "lxc" if named[2] == "lxc" else "qemu"
        return guest_file(self._cluster, named[1] or self._host.name, int(named[3]), kind)

    def _write_guest(self, path: str, content: bytes) -> None:
        named = _GUEST_FILE.fullmatch(path)
        node = named[1] or self._host.name if named is not None else ""
        if named is None or self._guest_text(path) is None:
            raise FileTrouble(READ_ONLY)
        kind = "lxc" if named[2] == "lxc" else "qemu"
        if not write_guest_file(self._cluster, node, int(named[3]), kind, content):
            raise FileTrouble(READ_ONLY)

    # -- folders and rights --------------------------------------------------------------------

    def _file(self, path: str, size: int, changed_at: float) -> Facts:
        mode = self._host.modes.get(path, _FILE_MODE)
        return Facts(size, stat.S_IFREG | mode, changed_at)

    def _paths(self) -> Iterator[str]:
        yield from self._host.files
        for storage in self._storages():
            for volume in space.volumes_on(self._cluster, storage, self._host.name):
                parsed = parse_volume_name(storage.type, volume.name)
                owner = f"/{parsed.owner}" if parsed.content == "images" else ""
                yield f"{folder_of(storage, parsed.content)}{owner}/{parsed.name}"
        for guest in self._cluster.guests_on(self._host.name):
            folder = "lxc" if guest.kind == "lxc" else "qemu-server"
            yield f"/etc/pve/{folder}/{guest.vmid}.conf"

    def _folders(self) -> Iterator[str]:
        yield from _FOLDERS
        yield from self._host.directories
        yield from (f"/home/{user}" for user in self._host.ssh_users if user != ROOT)
        for storage in self._storages():
            yield storage.path
            for content in storage.content & FOLDERS.keys() - {"rootdir"}:
                yield folder_of(storage, content)

    def _is_folder(self, path: str) -> bool:
        if path == "/":
            return True
        inside = f"{path}/"
        return any(
            folder == path or folder.startswith(inside) for folder in self._folders()
        ) or any(one.startswith(inside) for one in self._paths())

    def _check_way(self, path: str) -> None:
        """Refuse a path that leads through a file."""
        above = posixpath.dirname(path)
        while above != "/":
            if above in self._host.files or self._volume(above) is not None:
                raise FileTrouble(NO_FOLDER)
            above = posixpath.dirname(above)

    def _is_own(self, path: str) -> bool:
        return any(path.startswith(f"{one}/") for one in (*_FOR_ALL, self.home))

    def _check_may_write(self, path: str) -> None:
        if self.user != ROOT and not self._is_own(path):
            raise FileTrouble(DENIED)
