"""What a change of a configuration touches outside of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stockman_lab.pve.formats.drive import Drive
from stockman_lab.pve.formats.lists import PLAIN, TagStyle
from stockman_lab.pve.formats.mount_point import MountPoint


def _as_it_is(drive: Drive) -> Drive:
    return drive


def _mounted_as_it_is(mount: MountPoint) -> MountPoint:
    return mount


def _nothing(_key: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class GuestContext:
    """The world around one guest, as far as its configuration needs it."""

    vmid: int
    running: bool
    owns: Callable[[str], bool]
    """Whether a volume belongs to this guest and its storage exists."""
    made: Callable[[Drive], Drive] = _as_it_is
    """A drive with the volume that it asks for; without a wish, with the size of what it holds."""
    mounted: Callable[[MountPoint], MountPoint] = _mounted_as_it_is
    """The same for what a container mounts."""
    stuck: Callable[[str], str] = _nothing
    """Why a device can be neither plugged nor unplugged now, or nothing."""
    tag_style: TagStyle = PLAIN


@dataclass(slots=True)
class Outcome:
    """What a change did, and what is left to do outside."""

    applied: list[str] = field(default_factory=list)
    """Keys that have their new value, or are gone."""
    errors: dict[str, str] = field(default_factory=dict)
    """Keys that could not be applied, with the reason; they wait."""
    freed: list[str] = field(default_factory=list)
    """Volumes to destroy."""
    unused: dict[str, str] = field(default_factory=dict)
    """Volumes that are kept without a drive, by their new key."""
    warnings: list[str] = field(default_factory=list)
    plugged: list[str] = field(default_factory=list)
    unplugged: list[str] = field(default_factory=list)
    regenerate_cloud_init: bool = False
