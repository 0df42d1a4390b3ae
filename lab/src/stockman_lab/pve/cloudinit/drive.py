"""The cloud-init drive: its files, as whose label, and its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network
from typing import TypeAlias

from stockman.talos.nocloud.iso_format import LABEL, nocloud_image
from stockman_lab.pve.cloudinit.settings import Card, CloudInitError, Settings, pairs


def network_version_1(settings: Settings) -> str:
    """`network-config` of a NoCloud drive."""
    lines = ["version: 1", "config:"]
    for card in settings.cards():
        if not card.mac:
            raise CloudInitError(f"network interface 'net{card.number}' has no mac address")
        lines += [
            "    - type: physical",
            f"      name: eth{card.number}",
            f"      mac_address: '{card.mac.lower()}'",
            "      subnets:",
            *_subnets(card),
        ]
    lines.append("    - type: nameserver")
    lines += _list_lines("      address:", settings.nameservers)
    lines += _list_lines("      search:", settings.search_domains)
    return "\n".join(lines) + "\n"


def _subnets(card: Card) -> Iterator[str]:
    if card.ip == "dhcp":
        yield "      - type: dhcp4"
    elif card.ip:
        address, mask = split_ip4(card.ip)
        yield "      - type: static"
        yield f"        address: '{address}'"
        yield f"        netmask: '{mask}'"
        if card.gw:
            yield f"        gateway: '{card.gw}'"
    if card.ip6 == "dhcp":
        yield "      - type: dhcp6"
    elif card.ip6 == "auto":
        yield "      - type: ipv6_slaac"
    elif card.ip6:
        yield "      - type: static6"
        yield f"        address: '{card.ip6}'"
        if card.gw6:
            yield f"        gateway: '{card.gw6}'"


def _list_lines(head: str, values: list[str]) -> list[str]:
    return [head, *(f"      - '{value}'" for value in values)] if values else []


def split_ip4(text: str) -> tuple[str, str]:
    """An address, and its mask with dots."""
    address, slash, prefix = text.partition("/")
    if not slash:
        raise CloudInitError(f"not a CIDR: {text}")
    return address, str(IPv4Network(f"0.0.0.0/{prefix}").netmask)


_MASKED = "**********"


def user_data(settings: Settings, *, mask_password: bool = False) -> str:
    """The text of the file."""
    short, full = settings.names
    lines = ["#cloud-config", f"hostname: {short}", "manage_etc_hosts: true", f"fqdn: {full}"]
    user, password = settings.get("ciuser"), settings.get("cipassword")
    if user is not None:
        lines.append(f"user: {user}")
    if user == "root":
        lines.append("disable_root: False")
    if password is not None:
        lines.append(f"password: {_MASKED if mask_password else password}")
    keys = settings.ssh_keys
    if keys is not None:
        lines += ["ssh_authorized_keys:", *(f"  - {key}" for key in keys)]
    lines += ["chpasswd:", "  expire: False"]
    if user != "root":
        lines += ["users:", "  - default"]
    if settings.get("ciupgrade") not in ("0", ""):
        lines.append("package_upgrade: true")
    return "\n".join(lines) + "\n"


SIZE = 4 << 20
"""Bytes of the volume, whatever is on it."""
_MOST = 3 << 20
_PARTS = ("user", "network", "meta", "vendor")

Snippet: TypeAlias = Callable[[str], bytes]
"""The content of a snippet by its volume id.

Where there is none it raises what Proxmox VE says: `can't find file 'local:snippets/a.yaml'`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A drive, before it is bytes."""

    label: str
    files: dict[str, bytes]
    """By path, `user-data`."""

    def image(self, moment: datetime) -> bytes:
        """The bytes of the volume: an ISO image, and zeros up to its size."""
        return nocloud_image(self.files, moment).ljust(SIZE, b"\x00")


def drive(settings: Settings, snippet: Snippet) -> Drive:
    """What is on the drive of a VM when it is made now."""
    own = _snippets(settings, snippet)
    settings.require_nocloud()
    user = own.get("user", user_data(settings).encode())
    network = own["network"] if "network" in own else network_version_1(settings).encode()
    meta = own.get("meta", f"instance-id: {_instance(user, network)}\n".encode())
    vendor = own.get("vendor", b"")
    return _check_size(
        LABEL,
        {"user-data": user, "network-config": network, "meta-data": meta, "vendor-data": vendor},
    )


def _snippets(settings: Settings, snippet: Snippet) -> dict[str, bytes]:
    snippets = {}
    for name, volume in pairs(settings.get("cicustom") or "").items():
        if name in _PARTS and volume:
            if not volume.partition(":")[2].startswith("snippets/"):
                raise CloudInitError(f"{volume} is not in the snippets directory")
            snippets[name] = snippet(volume)
    return snippets


def _instance(user: bytes, network: bytes) -> str:
    return hashlib.sha1(user + network, usedforsecurity=False).hexdigest()


def _check_size(label: str, files: dict[str, bytes]) -> Drive:
    if sum(map(len, files.values())) > _MOST:
        raise CloudInitError("Cloud-Init sum of snippets too big (> 3 MiB)")
    return Drive(label=label, files=files)


def dump(settings: Settings, kind: str, *, mask_password: bool = False) -> str:
    """What `cloudinit/dump` shows: generated texts, whatever `cicustom` says."""
    settings.require_nocloud()
    if kind == "user":
        return user_data(settings, mask_password=mask_password)
    network = network_version_1(settings)
    if kind == "network":
        return network
    return f"instance-id: {_instance(user_data(settings).encode(), network.encode())}\n"
