"""A volume: a disk, an image, a file of a storage."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state


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
