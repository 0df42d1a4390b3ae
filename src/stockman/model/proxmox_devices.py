"""Values of a VM's keys that decisions depend on, taken apart: disks, cards, identity, agent."""

from __future__ import annotations

import base64
import binascii
from dataclasses import field
from uuid import UUID

from stockman.model.names import Bridge, Mac
from stockman.model.proxmox_strings import VolumeId, properties, property_text, size_bytes, truth
from stockman.model.record import record

CARD_MODELS = ("virtio", "e1000", "e1000e", "rtl8139", "vmxnet3")
_OTHER_CARD_MODELS = (
    *("e1000-82540em", "e1000-82544gc", "e1000-82545em", "i82551", "i82557b", "i82559er"),
    *("ne2k_isa", "ne2k_pci", "pcnet"),
)


@record
class Drive:
    """One disk or CD drive of a VM."""

    source: str
    """`local-zfs:vm-100-disk-0`, `none`, `cdrom`, or a path of the host."""
    size: int | None = None
    """Bytes. None: not told, as for CD drives."""
    is_cdrom: bool = False
    options: dict[str, str] = field(default_factory=dict)
    """Everything else, as it stands there."""

    @classmethod
    def parse(cls, text: str) -> Drive:
        """The drive that a value describes; ValueError where it cannot be read."""
        values = properties(text, default="file")
        if "volume" in values:
            values.setdefault("file", values.pop("volume"))
        source = values.pop("file", "")
        if not source:
            raise ValueError(f"{text!r} names no volume")
        size = values.pop("size", None)
        is_cdrom = values.pop("media", "disk") == "cdrom"
        return cls(
            source=source,
            size=None if size is None else size_bytes(size),
            is_cdrom=is_cdrom,
            options=values,
        )

    @property
    def volume(self) -> VolumeId | None:
        """The volume behind it. None: an empty drive, or a path of the host."""
        try:
            return VolumeId.parse(self.source)
        except ValueError:
            return None

    @property
    def is_cloud_init(self) -> bool:
        volume = self.volume
        return self.is_cdrom and volume is not None and "cloudinit" in volume.name

    def is_on(self, option: str) -> bool:
        """Whether an option is set and means yes."""
        return truth(self.options.get(option, "0"))


@record
class Card:
    """One network card of a VM."""

    model: str
    mac: Mac | None
    """None: not given yet."""
    bridge: Bridge | None
    """None: plugged into nothing."""
    vlan_id: int | None = None
    """None: untagged."""
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Card:
        """The card that a value describes; ValueError where it cannot be read."""
        values = properties(text, default="model")
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
    """What a VM says of itself to its guest; the UUID is its identity."""

    uuid: UUID | None
    """None: the server gives one when the VM is made."""
    fields: dict[str, str] = field(default_factory=dict)
    """`serial`, `sku` and others, decoded."""

    @classmethod
    def parse(cls, text: str) -> Smbios:
        """The identity that a value describes; ValueError where it cannot be read."""
        values = properties(text)
        encoded = truth(values.pop("base64", "0"))
        uuid = values.pop("uuid", None)
        if encoded:
            values = {key: _decoded(value) for key, value in values.items()}
        return cls(uuid=None if uuid is None else UUID(uuid), fields=values)

    def __str__(self) -> str:
        values = {
            key: base64.b64encode(value.encode()).decode() for key, value in self.fields.items()
        }
        if values:
            values["base64"] = "1"
        if self.uuid is not None:
            values["uuid"] = str(self.uuid)
        return property_text(values)


@record
class AgentChannel:
    """Whether a VM offers a channel to an agent inside, and how."""

    enabled: bool
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> AgentChannel:
        """The channel that a value describes; ValueError where it cannot be read."""
        values = properties(text, default="enabled")
        return cls(enabled=truth(values.pop("enabled", "0")), options=values)


@record
class HostDevice:
    """A PCI or USB device of a host that a VM has."""

    mapping: str | None
    """Name of a mapping. None: by address, which only root may give."""
    host: str | None
    """Address on the host. None: by mapping."""
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> HostDevice:
        """The device that a value describes; ValueError where it cannot be read."""
        values = properties(text, default="host")
        return cls(
            mapping=values.pop("mapping", None), host=values.pop("host", None), options=values
        )


def memory_mib(value: str) -> int:
    """MiB of the key `memory`, a number or `current=4096`; ValueError where it cannot be read."""
    return int(properties(value, default="current").get("current", "512"))


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("a value that should be base64 is not") from None
