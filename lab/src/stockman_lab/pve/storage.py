"""Storages as the cluster knows them (`storage.cfg`), and their volumes."""

from __future__ import annotations

from dataclasses import field

from stockman.model.record import record
from stockman_lab.core.state import state

_FILES = ("images", "rootdir", "vztmpl", "iso", "backup", "snippets", "import")
_BLOCKS = ("images", "rootdir")
_ANY = ("nodes", "disable", "content")
_BACKUPS = ("prune-backups", "max-protected-backups")
_FOLDERS = ("mkdir", "create-base-path", "create-subdirs")
_MOUNTED = (*_ANY, *_BACKUPS, *_FOLDERS, "content-dirs", "options", "format", "bwlimit")
_CHAIN = "snapshot-as-volume-chain"
_DISK_FORMATS = ("qcow2", "raw", "vmdk")


@record
class Kind:
    """One type of storage."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...]
    fixed: tuple[str, ...]
    """Options that are given once and never change."""
    content: tuple[str, ...]
    default_content: tuple[str, ...]
    formats: tuple[str, ...] = ("raw",)
    secrets: tuple[str, ...] = ()
    """Options that are kept elsewhere than in the configuration."""

    def knows(self, option: str) -> bool:
        return option in self.required or option in self.optional


KINDS: dict[str, Kind] = {
    "dir": Kind(
        required=("path",),
        optional=(
            *_ANY, *_BACKUPS, *_FOLDERS, "content-dirs", "shared", "format", "is_mountpoint",
            "bwlimit", "preallocation", "maxfiles", _CHAIN,
        ),
        fixed=("path", _CHAIN),
        content=(*_FILES, "none"),
        default_content=_BLOCKS,
        formats=(*_DISK_FORMATS, "subvol"),
    ),
    "btrfs": Kind(
        required=("path",),
        optional=(
            *_ANY, *_BACKUPS, *_FOLDERS, "shared", "format", "is_mountpoint", "nocow",
            "preallocation", "maxfiles",
        ),
        fixed=("path",),
        content=(*_FILES, "none"),
        default_content=_BLOCKS,
        formats=("raw", "subvol"),
    ),
    "nfs": Kind(
        required=("path", "server", "export"),
        optional=(*_MOUNTED, "preallocation", "maxfiles", _CHAIN),
        fixed=("path", "server", "export", _CHAIN),
        content=_FILES,
        default_content=("images",),
        formats=_DISK_FORMATS,
    ),
    "cifs": Kind(
        required=("path", "server", "share"),
        optional=(
            *_MOUNTED, "subdir", "username", "password", "domain", "smbversion", "preallocation",
            "maxfiles", _CHAIN,
        ),
        fixed=("path", "server", "share", _CHAIN),
        content=_FILES,
        default_content=("images",),
        formats=_DISK_FORMATS,
        secrets=("password",),
    ),
    "zfspool": Kind(
        required=("pool",),
        optional=(*_ANY, "blocksize", "sparse", "bwlimit", "mountpoint"),
        fixed=("pool",),
        content=_BLOCKS,
        default_content=_BLOCKS,
        formats=("raw", "subvol"),
    ),
    "lvm": Kind(
        required=("vgname",),
        optional=(
            *_ANY, "shared", "saferemove", "saferemove-stepsize", "saferemove_throughput", "base",
            "tagged_only", "bwlimit", _CHAIN,
        ),
        fixed=("vgname", "base"),
        content=_BLOCKS,
        default_content=("images",),
        formats=("raw",),
    ),
    "lvmthin": Kind(
        required=("thinpool", "vgname"),
        optional=(*_ANY, "bwlimit"),
        fixed=("thinpool", "vgname"),
        content=_BLOCKS,
        default_content=_BLOCKS,
    ),
    "rbd": Kind(
        optional=(
            *_ANY, "monhost", "pool", "data-pool", "namespace", "username", "krbd", "keyring",
            "bwlimit",
        ),
        fixed=(),
        content=_BLOCKS,
        default_content=("images",),
        secrets=("keyring",),
    ),
    "cephfs": Kind(
        required=("path",),
        optional=(*_MOUNTED, "monhost", "subdir", "username", "fuse", "keyring", "fs-name"),
        fixed=("path",),
        content=("vztmpl", "iso", "backup", "snippets", "import"),
        default_content=("backup",),
        secrets=("keyring",),
    ),
    "pbs": Kind(
        required=("server", "datastore"),
        optional=(
            *_ANY, *_BACKUPS, "namespace", "port", "username", "password", "encryption-key",
            "master-pubkey", "fingerprint", "maxfiles",
        ),
        fixed=("server", "datastore"),
        content=("backup", "none"),
        default_content=("backup",),
        secrets=("encryption-key", "master-pubkey", "password"),
    ),
}  # fmt: skip
"""By the name of the type; others are not simulated."""


ALWAYS_SHARED = frozenset({"nfs", "cifs", "rbd", "cephfs", "pbs"})
FILE_BASED = frozenset({"dir", "nfs", "cifs", "btrfs", "cephfs"})


@state
class Storage:
    """One entry of the storage configuration."""

    id: str
    type: str
    options: dict[str, str] = field(default_factory=dict)
    """As they are written down: `content`, `path`, `pool`, `nodes`, `disable`, `shared` ..."""

    @property
    def content(self) -> frozenset[str]:
        content = self.options.get("content", "")
        if not content:
            return frozenset(KINDS[self.type].default_content)
        return frozenset(one for one in content.split(",") if one and one != "none")

    @property
    def nodes(self) -> frozenset[str]:
        """Hosts that it is for. Empty: all."""
        return frozenset(node for node in self.options.get("nodes", "").split(",") if node)

    @property
    def is_enabled(self) -> bool:
        return self.options.get("disable", "0") != "1"

    @property
    def is_shared(self) -> bool:
        return self.type in ALWAYS_SHARED or self.options.get("shared", "0") == "1"

    @property
    def is_files(self) -> bool:
        return self.type in FILE_BASED

    def is_on(self, host: str) -> bool:
        return not self.nodes or host in self.nodes

    @property
    def path(self) -> str:
        """Where its files are; empty for block storages."""
        if "path" in self.options:
            return self.options["path"]
        return f"/mnt/pve/{self.id}" if self.is_files else ""

    @property
    def pool(self) -> str:
        """The name of the pool that its space comes from, on a host or shared by all."""
        options = self.options
        match self.type:
            case "zfspool":
                return f"zfs:{options.get('pool', '').split('/')[0]}"
            case "lvmthin":
                return f"lvmthin:{options.get('vgname', '')}/{options.get('thinpool', '')}"
            case "lvm":
                return f"lvm:{options.get('vgname', '')}"
            case "rbd":
                return f"rbd:{options.get('monhost', '')}/{options.get('pool', 'rbd')}"
            case "nfs" | "cifs" | "cephfs" | "pbs":
                export = (
                    options.get("export") or options.get("share") or options.get("datastore") or "/"
                )
                return f"{self.type}:{options.get('server', options.get('monhost', ''))}:{export}"
            case _:
                return f"fs:{self.path}"


@state
class VolumeSnapshot:
    """What a volume was at the time of a snapshot."""

    name: str
    size: int
    blob: str
    contents: dict[str, object]


@state
class Volume:
    """Something that a storage holds."""

    storage: str
    host: str
    """The host whose storage it is. Empty: a shared one."""
    name: str
    """Behind the colon of its id: `vm-100-disk-0`, `iso/talos.iso`."""
    content: str
    """`images`, `rootdir`, `iso`, `vztmpl`, `import`, `snippets` or `backup`."""
    format: str
    size: int
    """As the guest sees it."""
    used: int
    """What it takes on its storage."""
    vmid: int = 0
    """Of its owner. 0: nobody's."""
    parent: str = ""
    """The volume that it is a linked clone of, by name. Empty: none."""
    created_at: float = 0.0
    blob: str = ""
    """The bytes that it began with, by their SHA-256. Empty: zeros."""
    contents: dict[str, object] = field(default_factory=dict)
    """What guests wrote on it since, as those who wrote it know it."""
    notes: str = ""
    protected: bool = False
    snapshots: list[VolumeSnapshot] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"{self.storage}:{self.name}"
