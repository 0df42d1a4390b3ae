"""A disk with Talos on it: two slots to boot from, META, a configuration, and data.

All of it lies in what the disk of a virtual machine holds, so that it is copied, snapshotted and
destroyed with the disk.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stockman_lab.guest.view import INSTALLED, WIPED, DiskView
from stockman_lab.images.facts import ImageFacts

TALOS = "talos"
GRUB, SD_BOOT = "grub", "sd-boot"
_ROOM, _OLD_ROOM = 2000, 1000
"""MiB of the partition that holds what boots, since 1.11 and before."""
_EFI_ROOM = 101
STATE, EPHEMERAL, META, BOOT, EFI = "STATE", "EPHEMERAL", "META", "BOOT", "EFI"

STAGED_IMAGE, STAGED_OPTIONS = 7, 8
"""Keys in META of an upgrade that waits for the next boot."""


class TalosDisk:
    """The system disk of a machine."""

    def __init__(self, view: DiskView) -> None:
        self.view = view

    @property
    def _told(self) -> dict[str, Any]:
        content = self.view.contents.get(TALOS)
        if not isinstance(content, dict):
            content = self.view.contents[TALOS] = {}
        return content

    @property
    def is_installed(self) -> bool:
        """Whether Talos is on it, by installation or because its image was."""
        return bool(self.slots)

    # -- what boots ----------------------------------------------------------------------------

    @property
    def slots(self) -> dict[str, dict[str, Any]]:
        """What each slot boots, as facts of an image."""
        slots: dict[str, dict[str, Any]] = self._told.get("slots", {})
        return slots

    @property
    def default(self) -> str:
        """The slot that boots next."""
        return str(self._told.get("default", ""))

    @property
    def bootloader(self) -> str:
        return str(self._told.get("bootloader", SD_BOOT))

    @property
    def boot_room(self) -> int:
        """MiB for what boots; partitions stay as large as they were made."""
        return int(self._told.get("room", _ROOM)) + (_EFI_ROOM if self.bootloader == SD_BOOT else 0)

    def partitioned_by(self, version: str) -> None:
        """The partitions are as large as a version made them."""
        minor = tuple(map(int, version.removeprefix("v").split(".")[:2]))
        self._told["room"] = _OLD_ROOM if minor < (1, 11) else _ROOM

    def facts(self, slot: str) -> ImageFacts | None:
        """What a slot boots. None: nothing is in it."""
        told = self.slots.get(slot)
        return None if told is None else ImageFacts(**told)

    @property
    def free_slot(self) -> str:
        """Where the next installation goes."""
        return "B" if self.default == "A" else "A"

    def adopt_image(self, facts: ImageFacts, bootloader: str) -> None:
        """First boot of a disk whose image has Talos in it already."""
        if self.is_installed or self.view.contents.get(WIPED):
            return
        self.install(facts, bootloader, trial=False)

    def install(self, facts: ImageFacts, bootloader: str, *, trial: bool = True) -> str:
        """Put a version into the free slot, and boot it next; returns the slot."""
        told = self._told
        slot = self.free_slot if self.is_installed else "A"
        told.setdefault("slots", {})[slot] = asdict(facts)
        told["trial"] = trial and bool(told.get("default"))
        told["tried"] = False
        told["default"] = slot
        told["bootloader"] = bootloader
        told.setdefault(META.lower(), {})
        self.view.contents.pop(WIPED, None)
        self._show()
        return slot

    def switch(self) -> bool:
        """Boot the other slot next; returns whether there is something in it."""
        free_slot = self.free_slot
        if free_slot not in self.slots:
            return False
        self._told["default"] = free_slot
        self._told["trial"] = False
        self._show()
        return True

    def try_slot(self) -> None:
        """A boot begins; a slot that is tried for the second time gives way to the other one."""
        told = self._told
        if not told.get("trial"):
            return
        if told.get("tried"):
            told["tried"] = False
            self.switch()
            return
        told["tried"] = True

    def came_up(self) -> None:
        """The slot that booted is good."""
        self._told["trial"] = self._told["tried"] = False

    def _show(self) -> None:
        """Let firmware find what boots next."""
        self.view.contents[INSTALLED] = dict(self.slots[self.default])

    # -- META ----------------------------------------------------------------------------------

    @property
    def meta(self) -> dict[str, str]:
        """Values by number of the key, in decimal; each in base64."""
        meta: dict[str, str] = self._told.setdefault("meta", {})
        return meta

    def meta_value(self, key: int) -> bytes | None:
        text = self.meta.get(str(key))
        return None if text is None else base64.b64decode(text)

    def write_meta(self, key: int, value: bytes) -> None:
        self.meta[str(key)] = base64.b64encode(value).decode("ascii")

    def take_meta(self, key: int) -> bytes | None:
        """A value in META, which is gone then."""
        meta_value = self.meta_value(key)
        self.meta.pop(str(key), None)
        return meta_value

    # -- partitions ----------------------------------------------------------------------------

    @property
    def network(self) -> dict[str, bytes]:
        """NoCloud files on STATE, as `platform-network.yaml` keeps what they say."""
        files: dict[str, str] = self._told.get("network", {})
        return {name: base64.b64decode(text) for name, text in files.items()}

    @network.setter
    def network(self, files: Mapping[str, bytes]) -> None:
        self._told["network"] = {
            name: base64.b64encode(content).decode("ascii") for name, content in files.items()
        }

    @property
    def config(self) -> bytes:
        """The configuration on STATE. Empty: none."""
        return base64.b64decode(str(self._told.get("config", "")))

    @config.setter
    def config(self, text: bytes) -> None:
        self._told["config"] = base64.b64encode(text).decode("ascii")

    @property
    def node_identity(self) -> str:
        """What STATE keeps of who the machine is. Empty: nothing yet."""
        return str(self._told.get("identity", ""))

    @node_identity.setter
    def node_identity(self, text: str) -> None:
        self._told["identity"] = text

    @property
    def has_joined(self) -> bool:
        """Whether the kubelet has certificates of its cluster."""
        return bool(self._told.get("joined", False))

    @has_joined.setter
    def has_joined(self, joined: bool) -> None:
        self._told["joined"] = joined

    @property
    def was_ready(self) -> bool:
        """Whether its Node was ever ready."""
        return bool(self._told.get("ready", False))

    @was_ready.setter
    def was_ready(self, ready: bool) -> None:
        self._told["ready"] = ready

    @property
    def etcd(self) -> Mapping[str, object]:
        """The data directory of etcd: cluster and member. Empty: nothing is in it."""
        etcd: dict[str, object] = self._told.get("etcd", {})
        return etcd

    def write_etcd(self, content: Mapping[str, object]) -> None:
        self._told["etcd"] = dict(content)

    @property
    def recovery(self) -> str:
        """The blob of a snapshot that was uploaded. Empty: none."""
        return str(self._told.get("recovery", ""))

    @recovery.setter
    def recovery(self, blob: str) -> None:
        self._told["recovery"] = blob

    @property
    def images(self) -> dict[str, Any]:
        """Container images by namespace and name, as they lie on EPHEMERAL."""
        images: dict[str, Any] = self._told.setdefault("images", {})
        return images

    def has(self, partition: str) -> bool:
        """Whether a partition was made."""
        return partition in self._told.get("made", [])

    def make(self, partition: str) -> None:
        partitions = self._told.setdefault("made", [])
        if partition not in partitions:
            partitions.append(partition)

    def wipe(self, partition: str) -> None:
        """Empty a partition; it is made again at the next boot."""
        told = self._told
        told["made"] = [one for one in told.get("made", []) if one != partition]
        lost = {
            STATE: ("config", "identity", "network"),
            EPHEMERAL: ("etcd", "images", "recovery", "joined"),
            META: ("meta",),
        }
        for name in lost.get(partition, ()):
            told.pop(name, None)
        if partition in (BOOT, EFI):
            told.pop("slots", None)
            told.pop("default", None)
            self.view.contents.pop(INSTALLED, None)
            self.view.contents[WIPED] = True

    def wipe_all(self) -> None:
        """Empty the whole disk: nothing boots from it any more."""
        self.view.contents.clear()
        self.view.contents[WIPED] = True
