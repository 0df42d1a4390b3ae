"""Types of storages: what can be said about each, and what it can hold."""

from __future__ import annotations

from stockman.model.record import record

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
    selects_existing: bool = False
    """Whether volumes are there already and only chosen."""

    def knows(self, option: str) -> bool:
        return option in self.required or option in self.optional


_ISCSI = Kind(
    required=("portal", "target"),
    optional=(*_ANY, "bwlimit"),
    fixed=("portal", "target"),
    content=("images", "none"),
    default_content=("images",),
    selects_existing=True,
)
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
    "glusterfs": Kind(
        required=("path", "volume"),
        optional=(*_MOUNTED, "server", "server2", "transport", "preallocation", "maxfiles"),
        fixed=("path", "volume"),
        content=_FILES,
        default_content=("images",),
        formats=_DISK_FORMATS,
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
    "iscsi": _ISCSI,
    "iscsidirect": _ISCSI,
    "esxi": Kind(
        required=("server", "username"),
        optional=(*_ANY, "shared", "password", "skip-cert-verification", "port"),
        fixed=(),
        content=("import",),
        default_content=("import",),
        formats=_DISK_FORMATS,
        secrets=("password",),
    ),
    "zfs": Kind(
        required=("portal", "target", "pool", "blocksize", "iscsiprovider"),
        optional=(
            *_ANY, "nowritecache", "sparse", "comstar_hg", "comstar_tg", "lio_tpg", "bwlimit",
            "zfs-base-path",
        ),
        fixed=("portal", "target", "pool", "blocksize", "iscsiprovider"),
        content=("images",),
        default_content=("images",),
    ),
}  # fmt: skip
"""By the name of the type."""
