"""The difference between an existing guest and the desired one."""

from __future__ import annotations

from dataclasses import field, replace

from stockman.model.proxmox_values import NetworkCard, parse_memory
from stockman.model.record import record
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.disks import find_missing_mounts, mounts_to_grow
from stockman.planning.vm.first_start import is_new, mark_new
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.disks import GIB, KEEPER, disk_size, disk_slot, drives
from stockman.steps.vm.ownership import parse_mark
from stockman.steps.vm.values import key_family, same_value

_MANAGED_KEYS = ("net", "hostpci", "usb", "serial")
"""Key families in which every value comes from the configuration; others are removed."""
_LIVE_KEYS = frozenset(
    {
        *("balloon", "description", "name", "onboot", "protection", "startup", "tags"),
        *("ciuser", "sshkeys", "citype", "cicustom", "ipconfig", "nameserver", "searchdomain"),
        *("net", "usb"),
    }
)
"""Keys that can change while a VM runs, or that are only read at its next start."""
_CLOUD_INIT_KEYS = frozenset(
    {"ciuser", "sshkeys", "citype", "cicustom", "ipconfig", "nameserver", "searchdomain"}
)
"""Keys that a VM only reads from a cloud-init drive of Proxmox VE."""
_LIVE_CONTAINER_KEYS = frozenset({"cores", "memory", "swap", "hostname"})
_SLOTS = 31
_MAX_VALUE_LENGTH = 60


@record
class GuestDifference:
    """All differences of a guest. Empty: it matches."""

    values: dict[str, str] = field(default_factory=dict)
    delete: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """Keys that need a restart to become effective."""
    grow: dict[str, int] = field(default_factory=dict)
    """New sizes in GiB by slot."""
    attach: dict[str, str] = field(default_factory=dict)
    """Slots of missing data disks by name."""
    detach: tuple[str, ...] = ()
    """Names of data disks that are not configured."""
    mount: dict[str, str] = field(default_factory=dict)
    """Slots of missing mount points by path."""
    reasons: tuple[str, ...] = ()


def guest_difference(desired: DesiredGuest, config: VmConfig) -> GuestDifference:
    """Return what has to change so that a guest matches the configuration."""
    if desired.is_node and is_new(config):
        # It keeps its mark until it has its first configuration.
        marked = mark_new(desired.values["description"])
        desired = replace(desired, values={**desired.values, "description": marked})
    reads_cloud_init = any(drive.is_cloud_init for drive in drives(config).values())
    values = {
        key: value
        for key, value in desired.values.items()
        if (reads_cloud_init or key_family(key) not in _CLOUD_INIT_KEYS)
        and not same_value(key, value, _current_value(config, key))
    }
    delete = tuple(
        key
        for key in config.values
        if key_family(key) in _MANAGED_KEYS and key_family(key) != key and key not in desired.values
    )
    grow = {**_disks_to_grow(desired, config), **mounts_to_grow(desired, config)}
    mount = find_missing_mounts(desired, config)
    attach = _disks_to_attach(desired, config)
    detach = _disks_to_detach(desired, config)
    reasons = [_reason(desired, config, key) for key in (*values, *delete)]
    reasons += [f"{slot} must grow to {gib} GiB" for slot, gib in grow.items()]
    reasons += [f"disk {name} is missing" for name in attach]
    reasons += [f"disk {name} is not configured" for name in detach]
    reasons += [f"mount point {path} is missing" for path in mount]
    changed = (*values, *delete)
    left = [key for key in _leftover_pending_keys(desired, config) if key not in changed]
    reasons += [f"{key} was changed and needs a restart" for key in left]
    waiting = [key for key in changed if not _is_live(desired, config, key)]
    waiting = [*(key for key in waiting if not _is_satisfied(desired, config, key)), *left]
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


def _is_satisfied(desired: DesiredGuest, config: VmConfig, key: str) -> bool:
    """Whether the running value is the desired one, and only a pending change differs.

    Reverting such a change needs no restart.
    """
    if key not in config.waiting:
        return False
    now = config.waiting[key]
    return same_value(key, desired.values[key], now) if key in desired.values else now is None


def _reason(desired: DesiredGuest, config: VmConfig, key: str) -> str:
    actual, desired_value = _shorten(config.values.get(key)), desired.values.get(key)
    if _is_satisfied(desired, config, key):
        target = "be removed" if desired_value is None else f"stay {_shorten(desired_value)}"
        return f"{key} is pending to become {actual}, should {target}"
    if desired_value is None:
        return f"{key} is {actual}, should not be set"
    return f"{key} is {actual}, should be {_shorten(desired_value)}"


def _leftover_pending_keys(desired: DesiredGuest, config: VmConfig) -> list[str]:
    """Return pending keys of a guest that stockman manages.

    Changes that were pending before a guest was adopted are no reason to restart it.
    """
    is_marked = parse_mark(config.get("description", "")) is not None
    return pending_keys(desired, config) if is_marked else []


def pending_keys(desired: DesiredGuest, config: VmConfig) -> list[str]:
    """Return keys that were changed before and need a restart to become effective."""
    pending = []
    for key, now in config.waiting.items():
        is_wanted = key in desired.values and not same_value(key, desired.values[key], now)
        is_too_many = (
            key not in desired.values
            and key_family(key) in _MANAGED_KEYS
            and key_family(key) != key
        )
        if (is_wanted or is_too_many) and not _is_live(desired, config, key):
            pending.append(key)
    return pending


def ignore_key(difference: GuestDifference, key: str) -> GuestDifference:
    """Return the difference without one key and its reason."""
    return replace(
        difference,
        values={name: value for name, value in difference.values.items() if name != key},
        reasons=tuple(
            reason for reason in difference.reasons if not reason.startswith(f"{key} is ")
        ),
    )


def _current_value(config: VmConfig, key: str) -> str | None:
    value = config.values.get(key)
    if value is None and key == "balloon":
        # A VM without this value has a balloon device that keeps all of its memory.
        return str(parse_memory(config.get("memory", "512")))
    return value


def _is_live(desired: DesiredGuest, config: VmConfig, key: str) -> bool:
    kind = key_family(key)
    if desired.identity.kind == "lxc":
        return kind in _LIVE_KEYS or key in _LIVE_CONTAINER_KEYS
    if kind == "net" and key in desired.values and key in config.values:
        return _is_live_nic_change(desired.values[key], config.values[key])
    if key == "balloon" and key in desired.values:
        # A running VM neither gets nor loses the device (`vmconfig_hotplug_pending`).
        running = config.waiting[key] if key in config.waiting else config.values.get(key)
        return (desired.values[key] == "0") == (running == "0")
    return kind in _LIVE_KEYS


def _is_live_nic_change(desired_value: str, actual: str) -> bool:
    """Whether only the connection of a card changes, which a running machine accepts."""
    try:
        new, old = NetworkCard.parse(desired_value), NetworkCard.parse(actual)
    except ValueError:
        return False
    return (new.model, new.mac, new.options.get("mtu")) == (
        old.model,
        old.mac,
        old.options.get("mtu"),
    )


def _disks_to_grow(desired: DesiredGuest, config: VmConfig) -> dict[str, int]:
    sizes = {desired.system_disk: desired.disk_gb}
    for disk in desired.disks:
        slot = disk_slot(config, disk.name)
        if slot is not None:
            sizes[slot] = disk.size_gb
    return {slot: gib for slot, gib in sizes.items() if 0 < disk_size(config, slot) < gib * GIB}


def _disks_to_attach(desired: DesiredGuest, config: VmConfig) -> dict[str, str]:
    free = (f"scsi{number}" for number in range(1, _SLOTS) if f"scsi{number}" not in config)
    missing = [disk.name for disk in desired.disks if disk_slot(config, disk.name) is None]
    return dict(zip(missing, free, strict=False))


def _disks_to_detach(desired: DesiredGuest, config: VmConfig) -> tuple[str, ...]:
    """Return data disks that stockman created for this guest and that are no longer configured."""
    known = {disk.name for disk in desired.disks}
    prefix = f"vm-{KEEPER}-{desired.owner.name}-{desired.identity.name}-"
    serials = []
    for drive in drives(config).values():
        serial = drive.options.get("serial", "")
        volume = drive.volume
        if serial and serial not in known and volume is not None and prefix in volume.name:
            serials.append(serial)
    return tuple(serials)


def _shorten(text: str | None) -> str:
    if text is None:
        return "not set"
    line = " ".join(text.split())
    return line if len(line) <= _MAX_VALUE_LENGTH else f"{line[:_MAX_VALUE_LENGTH]}..."
