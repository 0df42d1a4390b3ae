"""Storages as the cluster knows them (`storage.cfg`), and their volumes."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state
from stockman_lab.pve.storage_kinds import KINDS

ALWAYS_SHARED = frozenset(
    {"nfs", "cifs", "rbd", "cephfs", "pbs", "iscsi", "iscsidirect", "esxi", "zfs"}
)
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
            case "nfs" | "cifs" | "cephfs" | "pbs" | "iscsi":
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
