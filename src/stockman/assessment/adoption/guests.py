"""Entries of `guests:` for VMs and containers that are not nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Interface, NetmaskValueError

from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.hardware import Keys, foreign_tags, hardware_keys
from stockman.assessment.adoption.matching import guest_label
from stockman.model.problem import Problems
from stockman.model.proxmox_values import Drive, parse_flag, parse_properties
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.ownership import parse_mark, strip_mark
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.disks import GIB
from stockman.steps.vm.values import key_family

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NOT_KNOWN = "unknown:vztmpl/not-known"
"""Placeholder: Proxmox VE does not record a container's template, which is only read on creation.
"""


def guest_keys(
    observed: ObservedProxmox, owner: str, nodes: frozenset[int], problems: Problems
) -> tuple[Keys, ...]:
    """Return an entry for every guest that is not a node; report those that cannot be described."""
    entries: list[Keys] = []
    names: set[object] = set()
    for guest in sorted(observed.guests(), key=lambda row: row.vmid):
        config = observed.config(guest.vmid)
        if guest.vmid in nodes or guest.is_template:
            continue
        why = _why_unsupported(config, owner, names)
        if why or config is None:
            problems.add(trouble.guest_left_out(guest_label(guest, config), why))
            continue
        names.add(config.name)
        entries.append(_guest(observed, guest, config))
    return tuple(entries)


def _why_unsupported(config: VmConfig | None, owner: str, names: set[object]) -> str:
    if config is None:
        return "its configuration cannot be read"
    mark = parse_mark(config.get("description"))
    if mark is not None and mark.owner != owner:
        return f"it belongs to {mark.owner}"
    if _NAME.fullmatch(config.name) is None:
        return f"{config.name!r} is no name that files can have (a-z, 0-9, hyphen)"
    return f"another guest is called {config.name}, too" if config.name in names else ""


def _guest(observed: ObservedProxmox, guest: GuestSummary, config: VmConfig) -> Keys:
    keys: Keys = {"name": config.name, "vmid": int(guest.vmid), "host": str(guest.host)}
    if guest.kind == "qemu":
        identity: Keys = {"uuid": str(config.uuid)} if config.uuid is not None else {}
        keys["vm"] = {**identity, **hardware_keys(observed, guest, config)}
    else:
        keys["container"] = _container(guest, config)
    return keys


def _container(guest: GuestSummary, config: VmConfig) -> Keys:
    root = Drive.parse(config.get("rootfs")) if "rootfs" in config else None
    keys: Keys = {
        "template": _NOT_KNOWN,
        "memory": int(config.get("memory", "512")),
        "swap": int(config.get("swap", "512")),
        "unprivileged": parse_flag(config.get("unprivileged", "0")),
        "nesting": parse_flag(parse_properties(config.get("features")).get("nesting", "0")),
        "onboot": parse_flag(config.get("onboot", "0")),
        "protection": parse_flag(config.get("protection", "0")),
        "tags": foreign_tags(guest.tags),
        "pool": guest.pool,
        "description": strip_mark(config.get("description")),
        "nics": [card for card, _ in _cards(config)],
        **_address(config),
        "mounts": list(_mounts(config)),
        "devices": [
            parse_properties(value, default="path").get("path", "")
            for key, value in config.values.items()
            if key_family(key) == "dev" and key != "dev"
        ],
    }
    if "cores" in config:
        keys["cores"] = int(config.get("cores"))
    if root is not None and root.volume is not None:
        keys["disk_gb"] = -(-(root.size or 0) // GIB)
        keys["datastore"] = str(root.volume.storage)
    return {key: value for key, value in keys.items() if value not in ("", [])}


def _cards(config: VmConfig) -> Iterator[tuple[Keys, dict[str, str]]]:
    for key, value in sorted(config.values.items()):
        if key_family(key) != "net" or key == "net":
            continue
        values = parse_properties(value)
        card: Keys = {"bridge": values.get("bridge", ""), "mac_addr": values.get("hwaddr", "")}
        if "tag" in values:
            card["vlan_id"] = int(values["tag"])
        if "mtu" in values:
            card["mtu"] = int(values["mtu"])
        if parse_flag(values.get("firewall", "0")):
            card["firewall"] = True
        yield card, values


def _address(config: VmConfig) -> Keys:
    values = next((values for _, values in _cards(config)), {})
    try:
        keys: Keys = {"address": str(IPv4Interface(values.get("ip", "")))}
    except (AddressValueError, NetmaskValueError, ValueError):
        return {}
    return keys | ({"gateway": values["gw"]} if "gw" in values else {})


def _mounts(config: VmConfig) -> Iterator[Keys]:
    for key, value in sorted(config.values.items()):
        if key_family(key) != "mp" or key == "mp":
            continue
        values = parse_properties(value, default="volume")
        yield {
            "path": values.get("mp", ""),
            "source": values.get("volume", ""),
            "read_only": parse_flag(values.get("ro", "0")),
            "backup": parse_flag(values.get("backup", "0")),
        }
