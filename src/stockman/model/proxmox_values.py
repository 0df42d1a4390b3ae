"""Text formats of values in Proxmox VE: property strings, sizes, tags, volumes, disks and tokens.

Parsing is tolerant, because the server may be newer than stockman: unknown keys are preserved.
Formatting uses the order of the server, so that an unchanged value round-trips.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from uuid import UUID

from stockman.model.names import Bridge, Datastore, Mac, Vmid
from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.model.secret import Secret

_TRUE = ("1", "on", "yes", "true")
_FALSE = ("0", "off", "no", "false")
_SIZE = pattern(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>[KMGT])?(?:iB)?", re.ASCII)
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_FOLDERS_WITHOUT_OWNER = ("backup", "import", "iso", "snippets", "vztmpl")
_OWNED_VOLUME = pattern(r"(?:vm|base|subvol|basevol)-(?P<vmid>[1-9]\d*)-", re.ASCII)


def parse_properties(text: str, *, default: str = "") -> dict[str, str]:
    """Parse a property string; a value without a name belongs to the default key.

    Raises ValueError if a value has no key, or a key occurs twice.
    """
    values: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = item.partition("=")
        if not equals:
            key, value = default, item
        if not key:
            raise ValueError(f"{item!r} has no key in {text!r}")
        if key in values:
            raise ValueError(f"{key} stands twice in {text!r}")
        values[key] = value
    return values


def format_properties(values: Mapping[str, str], *, default: str = "") -> str:
    """Format a property string in the order of the server: the default key first, then sorted by
    name.

    Raises ValueError if a value contains a comma.
    """
    for key, value in values.items():
        if "," in value:
            raise ValueError(f"the value of {key} holds a comma")
    first = [values[default]] if default and default in values else []
    return ",".join([*first, *(f"{key}={values[key]}" for key in sorted(values) if key != default)])


def parse_flag(text: str) -> bool:
    """Parse a boolean in a property string; raises ValueError for other texts."""
    lowered = text.lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise ValueError(f"{text!r} is neither yes nor no")


def parse_size(text: str) -> int:
    """Parse a size such as `32G`, `528K` or `0.5T` into bytes; raises ValueError if it is
    invalid."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a size")
    unit = _UNITS.get(match["unit"] or "", 1)
    count = match["count"]
    return int(float(count) * unit) if "." in count else int(count) * unit


def format_size(size: int) -> str:
    """Format a size with the largest unit that fits it exactly, as the server does."""
    for unit, count in sorted(_UNITS.items(), key=lambda unit_factor: -unit_factor[1]):
        if size and size % count == 0:
            return f"{size // count}{unit}"
    return str(size)


def parse_tags(text: str) -> tuple[str, ...]:
    """Return tags in lower case, sorted and without duplicates, with any separator."""
    return tuple(sorted({tag.lower() for tag in re.split(r"[;,\s]+", text) if tag}))


def format_tags(names: Iterable[str]) -> str:
    """Format tags as the server stores them."""
    return ";".join(parse_tags(";".join(names)))


def parse_boot_order(text: str) -> tuple[str, ...]:
    """Return the devices of the key `boot` in order; the legacy form `cdn` has none."""
    order = parse_properties(text, default="legacy").get("order", "")
    return tuple(filter(None, order.split(";")))


@record
class VolumeId:
    """Id of a volume: its storage and its name in that storage."""

    storage: Datastore
    name: str
    """For example `vm-100-disk-0`, `100/vm-100-disk-0.qcow2`, `iso/one.iso`."""

    @classmethod
    def parse(cls, text: str) -> VolumeId:
        """Parse a volume id; raises ValueError for paths, `none` and `cdrom`."""
        storage, colon, name = text.partition(":")
        if not (colon and storage and name) or "/" in storage:
            raise ValueError(f"{text!r} names no volume")
        return cls(storage=Datastore(storage), name=name)

    def __str__(self) -> str:
        return f"{self.storage}:{self.name}"

    @property
    def owner(self) -> Vmid | None:
        """VMID of the guest that owns the volume, and with which it is deleted. None: no owner.

        Storages with files read it from the directory, others from the name of the volume.
        """
        # PVE::Storage::Plugin::parse_volname: VMID/FILE, or BASE-VMID/BASE/VMID/FILE of a clone.
        *folders, _ = self.name.split("/")
        if folders and folders[0].isdigit():
            return Vmid(int(folders[-1])) if folders[-1].isdigit() else None
        return None if folders and folders[0] in _FOLDERS_WITHOUT_OWNER else self.named_owner

    @property
    def named_owner(self) -> Vmid | None:
        """VMID in the name that Proxmox VE gives to new disks. None: it has another name."""
        match = _OWNED_VOLUME.match(self.name.rsplit("/", 1)[-1])
        return None if match is None else Vmid(int(match["vmid"]))


CARD_MODELS = ("virtio", "e1000", "e1000e", "rtl8139", "vmxnet3")
_OTHER_CARD_MODELS = (
    *("e1000-82540em", "e1000-82544gc", "e1000-82545em", "i82551", "i82557b", "i82559er"),
    *("ne2k_isa", "ne2k_pci", "pcnet"),
)


@record
class Drive:
    """A disk or CD drive of a VM."""

    source: str
    """`local-zfs:vm-100-disk-0`, `none`, `cdrom`, or a path on the host."""
    size: int | None = None
    """Size in bytes. None: not specified, for example for CD drives."""
    is_cdrom: bool = False
    options: dict[str, str] = field(default_factory=dict)
    """All other options, unchanged."""

    @classmethod
    def parse(cls, text: str) -> Drive:
        """Parse the value of a drive; raises ValueError if it is invalid."""
        values = parse_properties(text, default="file")
        if "volume" in values:
            values.setdefault("file", values.pop("volume"))
        source = values.pop("file", "")
        if not source:
            raise ValueError(f"{text!r} names no volume")
        size = values.pop("size", None)
        is_cdrom = values.pop("media", "disk") == "cdrom"
        return cls(
            source=source,
            size=None if size is None else parse_size(size),
            is_cdrom=is_cdrom,
            options=values,
        )

    @property
    def volume(self) -> VolumeId | None:
        """Volume of the drive. None: an empty drive, or a path on the host."""
        try:
            return VolumeId.parse(self.source)
        except ValueError:
            return None

    @property
    def is_cloud_init(self) -> bool:
        volume = self.volume
        return self.is_cdrom and volume is not None and "cloudinit" in volume.name

    def is_on(self, option: str) -> bool:
        """Return whether an option is set and true."""
        return parse_flag(self.options.get(option, "0"))


@record
class NetworkCard:
    """A network card of a VM."""

    model: str
    mac: Mac | None
    """None: not assigned yet."""
    bridge: Bridge | None
    """None: not connected."""
    vlan_id: int | None = None
    """None: untagged."""
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> NetworkCard:
        """Parse the value of a network card; raises ValueError if it is invalid."""
        values = parse_properties(text, default="model")
        for model in (*CARD_MODELS, *_OTHER_CARD_MODELS):
            if model in values:
                values["model"], values["macaddr"] = model, values.pop(model)
        tag = values.pop("tag", None)
        mac = values.pop("macaddr", None)
        bridge = values.pop("bridge", None)
        if "model" not in values:
            raise ValueError(f"{text!r} names no model of a card")
        return cls(
            model=values.pop("model"),
            mac=None if mac is None else Mac(mac.lower()),
            bridge=None if bridge is None else Bridge(bridge),
            vlan_id=None if tag is None else int(tag),
            options=values,
        )


@record
class Smbios:
    """SMBIOS settings of a VM; the UUID is its identity."""

    uuid: UUID | None
    """None: assigned by the server when the VM is created."""
    fields: dict[str, str] = field(default_factory=dict)
    """`serial`, `sku` and others, decoded."""

    @classmethod
    def parse(cls, text: str) -> Smbios:
        """Parse the value of `smbios1`; raises ValueError if it is invalid."""
        values = parse_properties(text)
        encoded = parse_flag(values.pop("base64", "0"))
        uuid = values.pop("uuid", None)
        if encoded:
            values = {key: _decode_base64(value) for key, value in values.items()}
        return cls(uuid=None if uuid is None else UUID(uuid), fields=values)

    def __str__(self) -> str:
        values = {
            key: base64.b64encode(value.encode()).decode() for key, value in self.fields.items()
        }
        if values:
            values["base64"] = "1"
        if self.uuid is not None:
            values["uuid"] = str(self.uuid)
        return format_properties(values)


@record
class AgentChannel:
    """Settings of the guest agent channel of a VM."""

    enabled: bool
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> AgentChannel:
        """Parse the value of `agent`; raises ValueError if it is invalid."""
        values = parse_properties(text, default="enabled")
        return cls(enabled=parse_flag(values.pop("enabled", "0")), options=values)


@record
class HostDevice:
    """A PCI or USB device that is passed through to a VM."""

    mapping: str | None
    """Name of a resource mapping. None: given by address, which only root can use."""
    host: str | None
    """Address on the host. None: given by mapping."""
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> HostDevice:
        """Parse the value of a device; raises ValueError if it is invalid."""
        values = parse_properties(text, default="host")
        return cls(
            mapping=values.pop("mapping", None), host=values.pop("host", None), options=values
        )


def parse_memory(value: str) -> int:
    """Parse the key `memory`, a number or `current=4096`, into MiB; raises ValueError if it is
    invalid."""
    return int(parse_properties(value, default="current").get("current", "512"))


def _decode_base64(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("a value that should be base64 is not") from None


_JOINED_TOKEN = pattern(r"(?P<id>[^\s:/!=]+@[^\s!=]+![A-Za-z][A-Za-z0-9._-]+)=(?P<secret>\S+)")


def join_token(id: str, secret: Secret) -> Secret:  # noqa: A002  # what Proxmox VE calls it
    """Return a token id and its secret as one text, `csi@pve!csi=UUID`."""
    return Secret(f"{id}={secret.reveal()}", resolved=True)


def split_token(named: str, kept: Secret) -> tuple[str, Secret]:
    """Return the id and secret of a stored token; `named` is the id if the text is only a
    secret."""
    match = _JOINED_TOKEN.fullmatch(kept.reveal().strip())
    if match is None:
        return named, kept
    return match["id"], Secret(match["secret"], resolved=True)
