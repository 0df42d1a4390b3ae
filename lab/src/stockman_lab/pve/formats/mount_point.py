"""What a container mounts: its root, further volumes, directories and devices of the host."""

from __future__ import annotations

import re
from typing import Literal

from stockman_lab.pve.formats.drive import Holder
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.property_string import (
    DEFAULT_KEY,
    REQUIRED_DEFAULT_KEY,
    Format,
    Property,
    booleans,
    parse,
    print_properties,
)

_ROOT: Format = {
    "volume": REQUIRED_DEFAULT_KEY,
    "size": Property(is_size=True),
    **booleans("acl ro quota replicate shared"),
}
_MOUNT: Format = {**_ROOT, "mp": Property(required=True), **booleans("backup keepattrs")}
_UNUSED: Format = {"volume": REQUIRED_DEFAULT_KEY}
DEVICE: Format = {"path": DEFAULT_KEY, **booleans("deny-write")}
FEATURES: Format = booleans("nesting keyctl fuse mknod force_rw_sys")
NEW_MOUNT = re.compile(r"([^:\s]+):(\d+(?:\.\d+)?)", re.ASCII)
_MOUNT_KEY = re.compile(r"mp\d+", re.ASCII)
_UNUSED_KEY = re.compile(r"unused\d+", re.ASCII)


class MountPoint(Holder):
    """One mount by its key with its options; `size` is in bytes."""

    __slots__ = ()

    @property
    def volume(self) -> str:
        """What is mounted."""
        return self.options["volume"]

    @volume.setter
    def volume(self, value: str) -> None:
        self.options["volume"] = value

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return "/" if self.key == "rootfs" else self.options.get("mp", "")

    @property
    def kind(self) -> Literal["volume", "bind", "device"]:
        """A volume of a storage, or something of the host."""
        if not self.volume.startswith("/"):
            return "volume"
        return "device" if self.volume.startswith("/dev/") else "bind"

    @property
    def new_volume(self) -> tuple[str, str] | None:
        """Storage and GiB of a volume that is still to be made."""
        found = NEW_MOUNT.fullmatch(self.volume)
        return (found[1], found[2]) if found else None

    def __str__(self) -> str:
        return print_properties(_format_of(self.key), self.options)


def parse_mount_point(key: str, text: str) -> MountPoint:
    """The mount as it is written; raises `FormatError`."""
    return MountPoint(key, parse(_format_of(key), text))


def is_mount(key: str) -> bool:
    """Whether a key of a container holds something mounted."""
    return key == "rootfs" or bool(_MOUNT_KEY.fullmatch(key))


def _format_of(key: str) -> Format:
    if key == "rootfs":
        return _ROOT
    if _MOUNT_KEY.fullmatch(key):
        return _MOUNT
    if _UNUSED_KEY.fullmatch(key):
        return _UNUSED
    raise FormatError(f"parse_volume - unknown type: {key}")


def parse_features(text: str) -> dict[str, str]:
    """Features that a container is allowed; raises `FormatError`."""
    return parse(FEATURES, text) if text else {}


def parse_device(text: str) -> dict[str, str]:
    """A device of the host that a container sees; raises `FormatError`."""
    device = parse(DEVICE, text)
    if "path" not in device:
        raise FormatError("Path has to be defined")
    return device
