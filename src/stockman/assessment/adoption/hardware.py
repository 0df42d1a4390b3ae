"""Hardware keys of a VM."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Interface, NetmaskValueError

from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.cluster import guest_label
from stockman.model.names import Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox_values import (
    AgentChannel,
    Drive,
    HostDevice,
    NetworkCard,
    parse_boot_order,
    parse_flag,
    parse_memory,
    parse_properties,
)
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.ha import HaResource
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.disks import BUSES, GIB, KEEPER, drives
from stockman.steps.vm.ownership import parse_mark, strip_mark
from stockman.steps.vm.values import key_family

Keys = dict[str, object]

_STOCKMAN = "stockman"
_USUAL_DELAYS = {"up": "0", "down": "180"}
_HA_STATES = {"enabled": "started", "disabled": "stopped"}
"""Synonyms of HA states that Proxmox VE accepts."""


def hardware_keys(observed: ObservedProxmox, guest: GuestSummary, config: VmConfig) -> Keys:
    """Return every hardware key of a VM, defaults included."""
    memory = parse_memory(config.get("memory", "512"))
    system = system_disk(config)
    keys: Keys = {
        "cores": int(config.get("cores", "1")),
        "sockets": int(config.get("sockets", "1")),
        "memory": memory,
        "balloon": int(config.get("balloon", str(memory))),
        "numa": parse_flag(config.get("numa", "0")),
        "cpu_type": config.get("cpu", "kvm64"),
        "machine": config.get("machine", "pc"),
        "bios": config.get("bios", "seabios"),
        "scsihw": config.get("scsihw", "lsi"),
        "onboot": parse_flag(config.get("onboot", "0")),
        "protection": parse_flag(config.get("protection", "0")),
        "serial": config.get("serial0") == "socket",
        "vga": parse_properties(config.get("vga", "std"), default="type").get("type", "std"),
        "agent": AgentChannel.parse(config.get("agent", "0")).enabled,
        **_small_disks(config),
        **_devices(config),
        **_placement_keys(observed, guest, config),
        "boot_order": list(parse_boot_order(config.get("boot"))),
    }
    if system is not None:
        keys |= _system_keys(config, system)
    keys["nics"] = list(_cards(config))
    disks = list(_data_disks(config, system))
    if disks:
        keys["data_disks"] = disks
    return {key: value for key, value in keys.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value == []


def system_disk(config: VmConfig) -> str | None:
    """Return the slot of the disk that a VM boots from. None: it has no disk."""
    disks = {slot: drive for slot, drive in drives(config).items() if _is_disk(slot, drive)}
    bootable = [slot for slot in parse_boot_order(config.get("boot")) if slot in disks]
    old = config.get("bootdisk")
    by_bus = sorted(disks, key=lambda slot: (BUSES.index(key_family(slot)), slot))
    order = [*bootable, *([old] if old in disks else []), *by_bus]
    return order[0] if order else None


def loose_disks(config: VmConfig) -> tuple[str, ...]:
    """Slots of disks without a serial number, which cannot be identified inside the machine."""
    system = system_disk(config)
    return tuple(
        slot
        for slot, drive in drives(config).items()
        if _is_disk(slot, drive) and slot != system and not drive.options.get("serial")
    )


def _is_disk(slot: str, drive: Drive) -> bool:
    return key_family(slot) in BUSES and not drive.is_cdrom and drive.volume is not None


def _system_keys(config: VmConfig, slot: str) -> Keys:
    drive = drives(config)[slot]
    volume = drive.volume
    return {
        "disk_gb": _gib(drive),
        "datastore": str(volume.storage) if volume is not None else "",
    }


def _gib(drive: Drive) -> int:
    return -(-(drive.size or 0) // GIB)


def _small_disks(config: VmConfig) -> Keys:
    known = drives(config)
    keys: Keys = {}
    efi, tpm = known.get("efidisk0"), known.get("tpmstate0")
    if efi is not None and efi.volume is not None:
        enrolled = parse_flag(efi.options.get("pre-enrolled-keys", "0"))
        keys["efi_disk"] = {"datastore": str(efi.volume.storage), "pre_enrolled_keys": enrolled}
    if tpm is not None and tpm.volume is not None:
        version = tpm.options.get("version", "v1.2")
        keys["tpm"] = {"datastore": str(tpm.volume.storage), "version": version}
    return keys


def _cards(config: VmConfig) -> Iterator[Keys]:
    for key in sorted(
        filter(lambda key_name: key_family(key_name) == "net", config.values), key=_number
    ):
        try:
            card = NetworkCard.parse(config.get(key))
        except ValueError:
            continue
        options = card.options
        keys: Keys = {"bridge": str(card.bridge or ""), "mac_addr": str(card.mac or "")}
        if card.vlan_id is not None:
            keys["vlan_id"] = card.vlan_id
        if "mtu" in options:
            keys["mtu"] = int(options["mtu"])
        if parse_flag(options.get("firewall", "0")):
            keys["firewall"] = True
        if "queues" in options:
            keys["queues"] = int(options["queues"])
        if card.model != "virtio":
            keys["model"] = card.model
        yield keys


def _data_disks(config: VmConfig, system: str | None) -> Iterator[Keys]:
    mark = parse_mark(config.get("description"))
    for slot, drive in drives(config).items():
        name, volume = drive.options.get("serial", ""), drive.volume
        if slot == system or not _is_disk(slot, drive) or not name or volume is None:
            continue
        is_kept = f"vm-{KEEPER}-" in volume.name
        keys: Keys = {
            "name": name,
            "size_gb": _gib(drive),
            "datastore": str(volume.storage),
            "ssd": parse_flag(drive.options.get("ssd", "0")),
            "discard": drive.options.get("discard") == "on",
            "backup": parse_flag(drive.options.get("backup", "1")),
            "keep": is_kept and not (mark is not None and name in mark.scratch),
        }
        yield keys


def _devices(config: VmConfig) -> Keys:
    pci = [_pci(HostDevice.parse(value)) for value in _entries_of_kind(config, "hostpci")]
    usb = [_usb(HostDevice.parse(value)) for value in _entries_of_kind(config, "usb")]
    return {"pci": pci, "usb": usb}


def _pci(device: HostDevice) -> Keys:
    options = device.options
    named: Keys = {"mapping": device.mapping} if device.mapping else {"address": device.host}
    named["pcie"] = parse_flag(options.get("pcie", "0"))
    named["rombar"] = parse_flag(options.get("rombar", "1"))
    if parse_flag(options.get("x-vga", "0")):
        named["primary_gpu"] = True
    if "mdev" in options:
        named["mdev"] = options["mdev"]
    return named


def _usb(device: HostDevice) -> Keys:
    named: Keys = {"mapping": device.mapping} if device.mapping else {"id": device.host}
    return {**named, "usb3": parse_flag(device.options.get("usb3", "0"))}


def _entries_of_kind(config: VmConfig, kind: str) -> Iterator[str]:
    for key in sorted(
        filter(lambda key_name: key_family(key_name) == kind, config.values), key=_number
    ):
        yield config.get(key)


def _number(key: str) -> int:
    return int(key.removeprefix(key_family(key)))


def _placement_keys(observed: ObservedProxmox, guest: GuestSummary, config: VmConfig) -> Keys:
    order = parse_properties(config.get("startup"), default="order")
    keys: Keys = {
        "tags": foreign_tags(guest.tags),
        "pool": guest.pool,
        "description": strip_mark(config.get("description")),
        "ha": _ha(observed, guest.vmid),
    }
    if "order" in order:
        delays = _USUAL_DELAYS | order
        keys["start_order"] = {
            "order": int(order["order"]),
            "up_delay": int(delays["up"]),
            "down_delay": int(delays["down"]),
        }
    return keys


def foreign_tags(tags: Iterable[str]) -> list[str]:
    """Return tags that stockman does not set."""
    return [tag for tag in tags if tag != _STOCKMAN and not tag.startswith(f"{_STOCKMAN}-")]


def _ha(observed: ObservedProxmox, vmid: Vmid) -> Keys | None:
    if not isinstance(observed.ha, Fact):
        return None
    ids = (f"vm:{vmid}", f"ct:{vmid}")
    resource = next(
        (candidate for candidate in observed.ha.value.resources if candidate.id in ids), None
    )
    if resource is None:
        return None
    keys: Keys = {
        "state": _HA_STATES.get(resource.state, resource.state),
        "max_restart": resource.max_restart,
        "max_relocate": resource.max_relocate,
    }
    group = _group(observed, resource)
    return {"group": group, **keys} if group else keys


def _group(observed: ObservedProxmox, resource: HaResource) -> str:
    """Return the HA group (Proxmox VE 8) or the node affinity rule (9 and later) of a resource."""
    rules = observed.ha.value.rules if isinstance(observed.ha, Fact) else ()
    affine = (rule.name for rule in rules if rule.kind == "node-affinity")
    named = {rule.name: rule.resources for rule in rules}
    return resource.group or next((name for name in affine if resource.id in named[name]), "")


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
        "nics": [card for card, _ in _container_cards(config)],
        **_address(config),
        "mounts": list(_container_mounts(config)),
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


def _container_cards(config: VmConfig) -> Iterator[tuple[Keys, dict[str, str]]]:
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
    values = next((values for _, values in _container_cards(config)), {})
    try:
        keys: Keys = {"address": str(IPv4Interface(values.get("ip", "")))}
    except (AddressValueError, NetmaskValueError, ValueError):
        return {}
    return keys | ({"gateway": values["gw"]} if "gw" in values else {})


def _container_mounts(config: VmConfig) -> Iterator[Keys]:
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
