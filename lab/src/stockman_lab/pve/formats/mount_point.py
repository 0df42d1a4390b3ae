"""What a container mounts: its root, further volumes, directories and devices of the host."""

from __future__ import annotations

import re
from typing import Literal

from stockman_lab.pve.formats.checks import device_path, mount_path, volume_id
from stockman_lab.pve.formats.drive import Holder
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.property_string import Format, Property, parse, print_properties
from stockman_lab.pve.formats.sizes import parse_size

_OPTION = "(discard|lazytime|noatime|nodev|noexec|nosuid)"
_MAP = "[ug]:[0-9]+:[0-9]+:[1-9][0-9]*"
_ROOT: Format = {
    "volume": Property(required=True, default_key=True, check=mount_path),
    "size": Property(is_size=True, check=parse_size),
    "acl": Property(kind="boolean"),
    "mountoptions": Property(pattern=f"{_OPTION}(;{_OPTION})*"),
    "idmap": Property(pattern=f"(?:passthrough|{_MAP}(?:;{_MAP})*)"),
    "ro": Property(kind="boolean"),
    "quota": Property(kind="boolean"),
    "replicate": Property(kind="boolean"),
    "shared": Property(kind="boolean"),
}
_MOUNT: Format = {
    **_ROOT,
    "backup": Property(kind="boolean"),
    "mp": Property(required=True, check=mount_path),
    "keepattrs": Property(kind="boolean"),
}
_UNUSED: Format = {"volume": Property(required=True, default_key=True, check=volume_id)}
DEVICE: Format = {
    "path": Property(default_key=True, check=device_path),
    "mode": Property(pattern="0[0-7]{3}"),
    "uid": Property(kind="integer", minimum=0),
    "gid": Property(kind="integer", minimum=0),
    "deny-write": Property(kind="boolean"),
}
FEATURES: Format = {
    "mount": Property(pattern="[a-zA-Z0-9_; ]+"),
    **{
        name: Property(kind="boolean")
        for name in ("nesting", "keyctl", "fuse", "mknod", "force_rw_sys")
    },
}
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
    options = parse(_format_of(key), text)
    if "size" in options:
        options["size"] = str(parse_size(options["size"]))
    return MountPoint(key, options)


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
