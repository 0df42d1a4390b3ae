"""What can be changed while a virtual machine runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.drive import Drive, boot_disks, bus_of, is_drive, parse_drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import AGENT, current_memory
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.property_string import parse
from stockman_lab.pve.guest_config.context import GuestContext, Outcome
from stockman_lab.pve.guest_config.keys import CLOUD_INIT, CLOUD_INIT_SOURCES, is_indexed
from stockman_lab.pve.guest_config.pending import destroy, detach, forget_reused
from stockman_lab.pve.guest_config.state import GuestConfig

DEFAULT_FEATURES = "network,disk,usb"
KNOWN_FEATURES = frozenset({"network", "disk", "cpu", "memory", "usb", "cloudinit"})


def parse_hotplug(text: str) -> frozenset[str]:
    """Features that are on: `1` is the default, `0` none. Raises `FormatError`."""
    if text == "0":
        return frozenset()
    features = split_list(DEFAULT_FEATURES if text == "1" else text)
    for feature in features:
        if feature not in KNOWN_FEATURES:
            raise FormatError(f"invalid hotplug feature '{feature}'")
    return frozenset(features)


def record_change(config: GuestConfig, key: str, old: str | None, new: str | None) -> None:
    """Writes down that a value changed which the drive was made of."""
    if key not in CLOUD_INIT_SOURCES or (old is None and new is None):
        return
    record = config.cloud_init
    added = set(split_list(record.pop("added", "")))
    if new is None:
        _record_removal(record, added, key, old or "")
    elif record.get(key) == new:
        del record[key]
        added.discard(key)
    elif key not in record and key not in added:
        if old is None:
            added.add(key)
        else:
            record[key] = old
    if added:
        record["added"] = ",".join(sorted(added))


def _record_removal(record: dict[str, str], added: set[str], key: str, old: str) -> None:
    if key in record:
        return
    if key in added:
        added.remove(key)
    else:
        record[key] = old


ALWAYS_LIVE = CLOUD_INIT | {
    *("description", "hookscript", "lock", "migrate_downtime", "migrate_speed", "name"),
    *("onboot", "protection", "shares", "startup", "tags", "vmstatestorage"),
}
"""Keys that a running machine does not notice."""

FIXED_DISK_OPTIONS = (
    *("aio", "discard", "iothread", "queues", "product", "cache", "ssd", "vendor", "ro"),
)
"""What a disk keeps until the next start."""

FIXED_NIC_OPTIONS = ("model", "macaddr", "queues", "mtu")
"""What makes a card another one: it is unplugged and plugged in again."""

LEAST_HOTPLUG_MEMORY = 1024
MOST_HOTPLUG_MEMORY = 1 << 19
"""MiB that a machine with 40 address bits can have."""


class Waits(Exception):
    """A change that no running machine can take; it waits for the next start."""


class Stuck(Exception):
    """A change that a running machine could take, and does not."""


@dataclass(slots=True)
class Hotplug:
    """Applies waiting changes to a machine that runs, as far as that is possible."""

    config: GuestConfig
    around: GuestContext
    outcome: Outcome
    features: frozenset[str] = field(default_factory=frozenset)

    def apply(self, modified: Iterable[str]) -> None:
        """Applies what was just asked for; what waited before is left alone."""
        config = self.config
        selected = set(modified)
        for key in sorted(ALWAYS_LIVE & set(config.pending)):
            self._take(key, config.pending[key])
        self.features = parse_hotplug(config.values.get("hotplug", "1"))
        for key in sorted(selected & set(config.pending_delete)):
            self._try_delete(key)
        waiting = sorted(selected & set(config.pending))
        for key in sorted(waiting, key=self._is_cloud_init_drive):
            self._try_set(key)
        forget_reused(config)
        if config.cloud_init and "cloudinit" in self.features:
            self.outcome.regenerate_cloud_init = True

    def _is_cloud_init_drive(self, key: str) -> bool:
        return is_drive(key) and parse_drive(key, self.config.pending[key]).is_cloud_init

    def _take(self, key: str, value: str) -> None:
        record_change(self.config, key, self.config.values.get(key), value)
        self.config.values[key] = value
        if key == "description" and not value:
            del self.config.values[key]
        self.config.pending.pop(key, None)
        self.outcome.applied.append(key)

    def _try_delete(self, key: str) -> None:
        try:
            self._delete(key)
        except Waits:
            return
        except (Stuck, ApiError) as error:
            self.outcome.errors[key] = f"hotplug problem - {error}\n"
            return
        record_change(self.config, key, self.config.values.pop(key, None), None)
        del self.config.pending_delete[key]
        self.outcome.applied.append(key)

    def _try_set(self, key: str) -> None:
        value = self.config.pending[key]
        try:
            self._set(key, value)
        except Waits:
            return
        except Stuck as error:
            self.outcome.errors[key] = f"hotplug problem - {error}\n"
            return
        if self._is_cloud_init_drive(key):
            self.outcome.regenerate_cloud_init = True
        self._take(key, value)

    def _delete(self, key: str) -> None:
        config = self.config
        if key in ALWAYS_LIVE or key in ("cpuunits", "cpulimit"):
            return
        if key == "hotplug":
            _wait_if({"cpu", "memory"} & set(_words(config.values["hotplug"])))
        elif key == "tablet":
            self._need("usb")
        elif is_indexed(key, "usb"):
            _wait_if(not self._usb_is_live)
            self._unplug(key)
        elif key == "vcpus":
            self._need("cpu")
        elif key == "balloon":
            _wait_if(config.values.get("balloon") == "0")
        elif is_indexed(key, "net"):
            self._need("network")
            self._unplug(key)
        elif is_drive(key):
            _wait_if(bus_of(key) not in ("scsi", "virtio"))
            self._need("disk")
            self._unplug(key)
            self._let_go(parse_drive(key, config.values[key]), config.pending_delete[key])
        elif key == "memory":
            self._change_memory("")
        else:
            raise Waits

    def _let_go(self, drive: Drive, force: int) -> None:
        release = destroy if force else detach
        release(self.config, drive, self.around, self.outcome)

    def _set(self, key: str, value: str) -> None:
        old = self.config.values.get(key)
        if key == "hotplug":
            both = {*_words(value), *_words(old or "")}
            _wait_if({"cpu", "memory"} & both)
        elif key == "tablet":
            self._need("usb")
        elif is_indexed(key, "usb"):
            _wait_if(not self._usb_is_live)
            if old is not None:
                self._unplug(key)
            self._plug(key)
        elif key == "vcpus":
            self._need("cpu")
            if int(value) > self._most_cpus:
                raise Stuck("you can't add more vcpus than maxcpus")
        elif key == "balloon":
            _wait_if((old == "0") != (value == "0"))
        elif is_indexed(key, "net"):
            self._set_nic(key, old, value)
        elif is_drive(key):
            self._set_drive(parse_drive(key, value), old)
        elif key == "memory":
            self._change_memory(value)
        elif key == "agent":
            _wait_if(not old or _fixed_agent(old) != _fixed_agent(value))
        elif key not in ("cpuunits", "cpulimit"):
            raise Waits

    def _set_nic(self, key: str, old: str | None, value: str) -> None:
        if old is not None:
            before, after = parse_nic(old), parse_nic(value)
            same_card = all(
                before.options.get(name) == after.options.get(name) for name in FIXED_NIC_OPTIONS
            )
            if same_card and before.bridge and after.bridge:
                return
            self._need("network")
            self._unplug(key)
        self._need("network")
        self._plug(key)

    def _set_drive(self, drive: Drive, old: str | None) -> None:
        _wait_if(drive.key in ("efidisk0", "tpmstate0"))
        if old is not None:
            before = parse_drive(drive.key, old)
            if before.is_cdrom != drive.is_cdrom:
                raise Stuck("unable to change media type")
            if before.is_cdrom:
                self._change_medium(drive, before)
                return
            if before.file == drive.file:
                _wait_if(
                    any(
                        before.options.get(name) != drive.options.get(name)
                        for name in FIXED_DISK_OPTIONS
                    )
                )
                return
            self._need("disk")
            self._unplug(drive.key)
            detach(self.config, before, self.around, self.outcome)
        self._need("disk")
        _wait_if(drive.bus in ("ide", "sata"))
        self._plug(drive.key)

    def _change_medium(self, drive: Drive, before: Drive) -> None:
        if drive.file == "none" and before.is_cloud_init:
            detach(self.config, before, self.around, self.outcome)
        refused = self.around.stuck(drive.key)
        if refused:
            raise Stuck(refused)

    def _change_memory(self, value: str) -> None:
        self._need("memory")
        _wait_if(self.config.values.get("numa") != "1")
        wanted = current_memory(value)
        if wanted == current_memory(self.config.values.get("memory", "")):
            return
        if wanted < LEAST_HOTPLUG_MEMORY:
            raise Stuck(f"memory can't be lower than {LEAST_HOTPLUG_MEMORY} MB")
        if wanted > MOST_HOTPLUG_MEMORY:
            raise Stuck(f"you cannot add more memory than max mem {MOST_HOTPLUG_MEMORY} MB!")

    def _need(self, feature: str) -> None:
        _wait_if(feature not in self.features)

    @property
    def _usb_is_live(self) -> bool:
        return "usb" in self.features and self.config.values.get("ostype") == "l26"

    @property
    def _most_cpus(self) -> int:
        values = self.config.values
        return int(values.get("sockets", "1")) * int(values.get("cores", "1"))

    def _unplug(self, key: str) -> None:
        if key in boot_disks(self.config.values):
            raise Stuck(f"can't unplug bootdisk '{key}'")
        refused = self.around.stuck(key)
        if refused:
            raise Stuck(refused)
        self.outcome.unplugged.append(key)

    def _plug(self, key: str) -> None:
        refused = self.around.stuck(key)
        if refused:
            raise Stuck(refused)
        self.outcome.plugged.append(key)


def _wait_if(condition: object) -> None:
    if condition:
        raise Waits


def _words(hotplug: str) -> list[str]:
    return [word for word in ("cpu", "memory") if word in hotplug]


def _fixed_agent(text: str) -> dict[str, str]:
    found = parse(AGENT, text)
    if found["enabled"] != "1":
        return {}
    return {name: value for name, value in found.items() if name != "fstrim_cloned_disks"}
