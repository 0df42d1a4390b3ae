"""What differs between a guest that is there and the one that should be."""

from __future__ import annotations

from dataclasses import field, replace

from stockman.model.proxmox_values import NetworkCard, parse_memory
from stockman.model.record import record
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.disks import find_missing_mounts, mounts_to_grow
from stockman.planning.vm.ownership import parse_mark
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.disks import GIB, KEEPER, disk_size, disk_slot, drives
from stockman.steps.vm.values import key_family, same_value

_MANAGED_KEYS = ("net", "hostpci", "usb", "serial")
"""Families of keys of which there is nothing that the configuration does not name."""
_LIVE_KEYS = frozenset(
    {
        *("balloon", "description", "name", "onboot", "protection", "startup", "tags"),
        *("ciuser", "sshkeys", "citype", "cicustom", "ipconfig", "nameserver", "searchdomain"),
        *("net", "usb"),
    }
)
"""Keys that change while a VM runs, or that only its next start reads."""
_CLOUD_INIT_KEYS = frozenset(
    {"ciuser", "sshkeys", "citype", "cicustom", "ipconfig", "nameserver", "searchdomain"}
)
"""Keys that only a drive of Proxmox VE tells a VM; without one they mean nothing."""
_LIVE_CONTAINER_KEYS = frozenset({"cores", "memory", "swap", "hostname"})
_SLOTS = 31
_MAX_VALUE_LENGTH = 60


@record
class GuestDifference:
    """All of it; empty where nothing differs."""

    values: dict[str, str] = field(default_factory=dict)
    delete: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """Keys that wait for the next start."""
    grow: dict[str, int] = field(default_factory=dict)
    """Sizes in GiB by slot."""
    attach: dict[str, str] = field(default_factory=dict)
    """Slots of data disks that are not there, by name."""
    detach: tuple[str, ...] = ()
    """Data disks that are too many."""
    mount: dict[str, str] = field(default_factory=dict)
    """Slots of mounts that a container does not have, by path."""
    reasons: tuple[str, ...] = ()


def guest_difference(wish: DesiredGuest, config: VmConfig) -> GuestDifference:
    """What has to change so that a guest is as it should be."""
    told = any(drive.is_cloud_init for drive in drives(config).values())
    values = {
        key: value
        for key, value in wish.values.items()
        if (told or key_family(key) not in _CLOUD_INIT_KEYS)
        and not same_value(key, value, _current_value(config, key))
    }
    delete = tuple(
        key
        for key in config.values
        if key_family(key) in _MANAGED_KEYS and key_family(key) != key and key not in wish.values
    )
    grow = {**_disks_to_grow(wish, config), **mounts_to_grow(wish, config)}
    mount = find_missing_mounts(wish, config)
    attach = _disks_to_attach(wish, config)
    detach = _disks_to_detach(wish, config)
    reasons = [_reason(wish, config, key) for key in (*values, *delete)]
    reasons += [f"{slot} should have {gib} GiB" for slot, gib in grow.items()]
    reasons += [f"disk {name} is not there" for name in attach]
    reasons += [f"disk {name} should not be there" for name in detach]
    reasons += [f"nothing is mounted at {path}" for path in mount]
    changed = (*values, *delete)
    left = [key for key in _leftover_pending_keys(wish, config) if key not in changed]
    reasons += [f"{key} was changed, and waits for a restart" for key in left]
    waiting = [key for key in changed if not _is_live(wish, config, key)]
    waiting = [*(key for key in waiting if not _is_satisfied(wish, config, key)), *left]
    return GuestDifference(
        values=values,
        delete=delete,
        restart=tuple(waiting),
        grow=grow,
        attach=attach,
        detach=detach,
        mount=mount,
        reasons=tuple(reasons),
    )


def _is_satisfied(wish: DesiredGuest, config: VmConfig, key: str) -> bool:
    """Whether what should be still holds, and only waits to become something else.

    Whoever takes that back changes nothing for a guest that runs: there is nothing to restart for.
    """
    if key not in config.waiting:
        return False
    now = config.waiting[key]
    return same_value(key, wish.values[key], now) if key in wish.values else now is None


def _reason(wish: DesiredGuest, config: VmConfig, key: str) -> str:
    found, wanted = _shorten(config.values.get(key)), wish.values.get(key)
    if _is_satisfied(wish, config, key):
        stays = "not be there" if wanted is None else f"stay {_shorten(wanted)}"
        return f"{key} waits to become {found} and should {stays}"
    if wanted is None:
        return f"{key} is {found} and should not be"
    return f"{key} is {found} and should be {_shorten(wanted)}"


def _leftover_pending_keys(wish: DesiredGuest, config: VmConfig) -> list[str]:
    """Keys that wait, of a guest that is ours.

    What others left so before a guest was ours is not for us to restart it for.
    """
    is_marked = parse_mark(config.get("description", "")) is not None
    return pending_keys(wish, config) if is_marked else []


def pending_keys(wish: DesiredGuest, config: VmConfig) -> list[str]:
    """Keys that were changed before, and that only a restart makes true."""
    found = []
    for key, now in config.waiting.items():
        is_wanted = key in wish.values and not same_value(key, wish.values[key], now)
        is_too_many = (
            key not in wish.values and key_family(key) in _MANAGED_KEYS and key_family(key) != key
        )
        if (is_wanted or is_too_many) and not _is_live(wish, config, key):
            found.append(key)
    return found


def ignore_key(found: GuestDifference, key: str) -> GuestDifference:
    """The same without one key, and without what is said of it."""
    return replace(
        found,
        values={name: value for name, value in found.values.items() if name != key},
        reasons=tuple(one for one in found.reasons if not one.startswith(f"{key} is ")),
    )


def _current_value(config: VmConfig, key: str) -> str | None:
    found = config.values.get(key)
    if found is None and key == "balloon":
        # Without a word a VM has a balloon that keeps all of its memory.
        return str(parse_memory(config.get("memory", "512")))
    return found


def _is_live(wish: DesiredGuest, config: VmConfig, key: str) -> bool:
    kind = key_family(key)
    if wish.who.kind == "lxc":
        return kind in _LIVE_KEYS or key in _LIVE_CONTAINER_KEYS
    if kind == "net" and key in wish.values and key in config.values:
        return _is_live_nic_change(wish.values[key], config.values[key])
    return kind in _LIVE_KEYS


def _is_live_nic_change(wanted: str, found: str) -> bool:
    """Whether a card is only plugged into something else, which a running machine may miss."""
    try:
        new, old = NetworkCard.parse(wanted), NetworkCard.parse(found)
    except ValueError:
        return False
    return (new.model, new.mac, new.options.get("mtu")) == (
        old.model,
        old.mac,
        old.options.get("mtu"),
    )


def _disks_to_grow(wish: DesiredGuest, config: VmConfig) -> dict[str, int]:
    wanted = {wish.system_disk: wish.disk_gb}
    for disk in wish.disks:
        slot = disk_slot(config, disk.name)
        if slot is not None:
            wanted[slot] = disk.size_gb
    return {slot: gib for slot, gib in wanted.items() if 0 < disk_size(config, slot) < gib * GIB}


def _disks_to_attach(wish: DesiredGuest, config: VmConfig) -> dict[str, str]:
    free = (f"scsi{number}" for number in range(1, _SLOTS) if f"scsi{number}" not in config)
    missing = [disk.name for disk in wish.disks if disk_slot(config, disk.name) is None]
    return dict(zip(missing, free, strict=False))


def _disks_to_detach(wish: DesiredGuest, config: VmConfig) -> tuple[str, ...]:
    """Disks that stockman made for this guest and the configuration no longer names."""
    known = {disk.name for disk in wish.disks}
    prefix = f"vm-{KEEPER}-{wish.owner}-{wish.who.name}-"
    found = []
    for drive in drives(config).values():
        serial = drive.options.get("serial", "")
        volume = drive.volume
        if serial and serial not in known and volume is not None and prefix in volume.name:
            found.append(serial)
    return tuple(found)


def _shorten(text: str | None) -> str:
    if text is None:
        return "not set"
    line = " ".join(text.split())
    return line if len(line) <= _MAX_VALUE_LENGTH else f"{line[:_MAX_VALUE_LENGTH]}..."
