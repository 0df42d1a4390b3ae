"""What differs between a guest that is there and the one that should be."""

from __future__ import annotations

from dataclasses import field, replace

from stockman.model.proxmox_devices import Card, memory_mib
from stockman.model.record import record
from stockman.planning.vm_mark import read_mark
from stockman.planning.vm_mounts import grown_mounts, missing_mounts
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.vm_disks import GIB, KEEPER, disk_size, drives, slot_of
from stockman.steps.vm_values import family, same

_OWNED = ("net", "hostpci", "usb", "serial")
"""Families of keys of which there is nothing that the configuration does not name."""
_LIVE = frozenset(
    {
        *("balloon", "description", "name", "onboot", "protection", "startup", "tags"),
        *("ciuser", "sshkeys", "citype", "cicustom", "ipconfig", "nameserver", "searchdomain"),
        *("net", "usb"),
    }
)
"""Keys that change while a VM runs, or that only its next start reads."""
_TOLD = frozenset(
    {"ciuser", "sshkeys", "citype", "cicustom", "ipconfig", "nameserver", "searchdomain"}
)
"""Keys that only a drive of Proxmox VE tells a VM; without one they mean nothing."""
_LIVE_IN_CONTAINERS = frozenset({"cores", "memory", "swap", "hostname"})
_SLOTS = 31
_LONGEST = 60


@record
class Difference:
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


def difference(wish: GuestWish, config: VmConfig) -> Difference:
    """What has to change so that a guest is as it should be."""
    told = any(drive.is_cloud_init for drive in drives(config).values())
    values = {
        key: value
        for key, value in wish.values.items()
        if (told or family(key) not in _TOLD) and not same(key, value, _there(config, key))
    }
    delete = tuple(
        key
        for key in config.values
        if family(key) in _OWNED and family(key) != key and key not in wish.values
    )
    grow = {**_grown(wish, config), **grown_mounts(wish, config)}
    mount = missing_mounts(wish, config)
    attach = _attached(wish, config)
    detach = _detached(wish, config)
    reasons = [_why(wish, config, key) for key in (*values, *delete)]
    reasons += [f"{slot} should have {gib} GiB" for slot, gib in grow.items()]
    reasons += [f"disk {name} is not there" for name in attach]
    reasons += [f"disk {name} should not be there" for name in detach]
    reasons += [f"nothing is mounted at {path}" for path in mount]
    changed = (*values, *delete)
    left = [key for key in _left_waiting(wish, config) if key not in changed]
    reasons += [f"{key} was changed, and waits for a restart" for key in left]
    waiting = [key for key in changed if not _is_live(wish, config, key)]
    waiting = [*(key for key in waiting if not _stays(wish, config, key)), *left]
    return Difference(
        values=values,
        delete=delete,
        restart=tuple(waiting),
        grow=grow,
        attach=attach,
        detach=detach,
        mount=mount,
        reasons=tuple(reasons),
    )


def _stays(wish: GuestWish, config: VmConfig, key: str) -> bool:
    """Whether what should be still holds, and only waits to become something else.

    Whoever takes that back changes nothing for a guest that runs: there is nothing to restart for.
    """
    if key not in config.waiting:
        return False
    now = config.waiting[key]
    return same(key, wish.values[key], now) if key in wish.values else now is None


def _why(wish: GuestWish, config: VmConfig, key: str) -> str:
    found, wanted = _short(config.values.get(key)), wish.values.get(key)
    if _stays(wish, config, key):
        stays = "not be there" if wanted is None else f"stay {_short(wanted)}"
        return f"{key} waits to become {found} and should {stays}"
    if wanted is None:
        return f"{key} is {found} and should not be"
    return f"{key} is {found} and should be {_short(wanted)}"


def _left_waiting(wish: GuestWish, config: VmConfig) -> list[str]:
    """Keys that wait, of a guest that is ours.

    What others left so before a guest was ours is not for us to restart it for.
    """
    is_marked = read_mark(config.get("description", "")) is not None
    return waiting_keys(wish, config) if is_marked else []


def waiting_keys(wish: GuestWish, config: VmConfig) -> list[str]:
    """Keys that were changed before, and that only a restart makes true."""
    found = []
    for key, now in config.waiting.items():
        is_wanted = key in wish.values and not same(key, wish.values[key], now)
        is_too_many = key not in wish.values and family(key) in _OWNED and family(key) != key
        if (is_wanted or is_too_many) and not _is_live(wish, config, key):
            found.append(key)
    return found


def without(found: Difference, key: str) -> Difference:
    """The same without one key, and without what is said of it."""
    return replace(
        found,
        values={name: value for name, value in found.values.items() if name != key},
        reasons=tuple(one for one in found.reasons if not one.startswith(f"{key} is ")),
    )


def _there(config: VmConfig, key: str) -> str | None:
    found = config.values.get(key)
    if found is None and key == "balloon":
        # Without a word a VM has a balloon that keeps all of its memory.
        return str(memory_mib(config.get("memory", "512")))
    return found


def _is_live(wish: GuestWish, config: VmConfig, key: str) -> bool:
    kind = family(key)
    if wish.who.kind == "lxc":
        return kind in _LIVE or key in _LIVE_IN_CONTAINERS
    if kind == "net" and key in wish.values and key in config.values:
        return _stays_plugged(wish.values[key], config.values[key])
    return kind in _LIVE


def _stays_plugged(wanted: str, found: str) -> bool:
    """Whether a card is only plugged into something else, which a running machine may miss."""
    try:
        new, old = Card.parse(wanted), Card.parse(found)
    except ValueError:
        return False
    return (new.model, new.mac, new.options.get("mtu")) == (
        old.model,
        old.mac,
        old.options.get("mtu"),
    )


def _grown(wish: GuestWish, config: VmConfig) -> dict[str, int]:
    wanted = {wish.system_disk: wish.disk_gb}
    for disk in wish.disks:
        slot = slot_of(config, disk.name)
        if slot is not None:
            wanted[slot] = disk.size_gb
    return {slot: gib for slot, gib in wanted.items() if 0 < disk_size(config, slot) < gib * GIB}


def _attached(wish: GuestWish, config: VmConfig) -> dict[str, str]:
    free = (f"scsi{number}" for number in range(1, _SLOTS) if f"scsi{number}" not in config)
    missing = [disk.name for disk in wish.disks if slot_of(config, disk.name) is None]
    return dict(zip(missing, free, strict=False))


def _detached(wish: GuestWish, config: VmConfig) -> tuple[str, ...]:
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


def _short(text: str | None) -> str:
    if text is None:
        return "not set"
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
