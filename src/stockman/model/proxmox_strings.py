"""Texts in which Proxmox VE packs several values: property strings, sizes, tags, volume names.

Reading is tolerant, as the server may be newer than we are: keys that nobody here knows are kept.
Writing follows the server's own order, so that what was written comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from stockman.model.names import Datastore, Vmid
from stockman.model.record import record

_TRUE = ("1", "on", "yes", "true")
_FALSE = ("0", "off", "no", "false")
_SIZE = re.compile(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>[KMGT])?(?:iB)?", re.ASCII)
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OWNED = re.compile(r"(?:vm|base|subvol|basevol)-(?P<vmid>[1-9]\d*)-", re.ASCII)


def properties(text: str, *, default: str = "") -> dict[str, str]:
    """The values of a property string; one without a name belongs to the default key.

    ValueError where a value has no key, or a key stands twice.
    """
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = default, part
        if not key:
            raise ValueError(f"{part!r} has no key in {text!r}")
        if key in found:
            raise ValueError(f"{key} stands twice in {text!r}")
        found[key] = value
    return found


def property_text(values: Mapping[str, str], *, default: str = "") -> str:
    """A property string in the order of the server: the default key first and bare, then by name.

    ValueError where a value holds a comma, which would make it two.
    """
    for key, value in values.items():
        if "," in value:
            raise ValueError(f"the value of {key} holds a comma")
    first = [values[default]] if default and default in values else []
    return ",".join([*first, *(f"{key}={values[key]}" for key in sorted(values) if key != default)])


def truth(text: str) -> bool:
    """Whether a word inside of a property string means yes; ValueError for other words."""
    word = text.lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(f"{text!r} is neither yes nor no")


def size_bytes(text: str) -> int:
    """How many bytes a size is: `32G`, `528K`, `0.5T`, without a unit bytes; ValueError else."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a size")
    unit = _UNITS.get(found["unit"] or "", 1)
    count = found["count"]
    return int(float(count) * unit) if "." in count else int(count) * unit


def size_text(size: int) -> str:
    """A size with the largest unit that fits it exactly, as the server writes it."""
    for unit, count in sorted(_UNITS.items(), key=lambda one: -one[1]):
        if size and size % count == 0:
            return f"{size // count}{unit}"
    return str(size)


def tags(text: str) -> tuple[str, ...]:
    """Tags, lower-case, sorted and each once, whatever stands between them."""
    return tuple(sorted({tag.lower() for tag in re.split(r"[;,\s]+", text) if tag}))


def tags_text(given: Iterable[str]) -> str:
    """Tags as the server stores them."""
    return ";".join(tags(";".join(given)))


def boot_order(text: str) -> tuple[str, ...]:
    """Devices of the key `boot`, first to last; the old form `cdn` names none."""
    order = properties(text, default="legacy").get("order", "")
    return tuple(filter(None, order.split(";")))


@record
class VolumeId:
    """Name of a volume: the storage that holds it, and its name there."""

    storage: Datastore
    name: str
    """`vm-100-disk-0`, `100/vm-100-disk-0.qcow2`, `iso/one.iso`."""

    @classmethod
    def parse(cls, text: str) -> VolumeId:
        """The volume that a text names; ValueError for paths, `none` and `cdrom`."""
        storage, colon, name = text.partition(":")
        if not (colon and storage and name) or "/" in storage:
            raise ValueError(f"{text!r} names no volume")
        return cls(storage=Datastore(storage), name=name)

    def __str__(self) -> str:
        return f"{self.storage}:{self.name}"

    @property
    def owner(self) -> Vmid | None:
        """The guest that owns it, told by its name alone. None: it belongs to nobody."""
        found = _OWNED.match(self.name.rsplit("/", 1)[-1])
        return None if found is None else Vmid(int(found["vmid"]))
