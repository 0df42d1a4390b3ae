"""Checks of single values by the names that the schema gives them; each raises `FormatError`."""

from __future__ import annotations

import ipaddress
import re

from stockman_lab.pve.formats.format_error import FormatError

_CONFIG_ID = re.compile(r"[a-z][a-z0-9_-]+", re.IGNORECASE | re.ASCII)
_BRIDGE = re.compile(r"[-_.\w]+")
_STORAGE = re.compile(r"[a-z][a-z0-9\-_.]*[a-z0-9]", re.IGNORECASE | re.ASCII)
_VOLUME = re.compile(r"[a-z][a-z0-9\-_.]*[a-z0-9]:.+$", re.IGNORECASE | re.ASCII)
_MAC = re.compile(r"[a-f0-9][02468ace](?::[a-f0-9]{2}){5}", re.IGNORECASE)
_URL_ENCODED = re.compile(r"[-%a-zA-Z0-9_.!~*'()]*")
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DNS_NAME = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}")
_NODE = re.compile(_LABEL)
_PREFIX = re.compile(r"(.+)/(\d{1,3})", re.ASCII)
_PHYSICAL_BITS = re.compile(r"host|\d{1,2}", re.ASCII)
_CLIMBING = re.compile(r"/\.\.?(?:/|$)|^\.\./")
_DEVICE_CLIMBING = re.compile(r"/\.\.?(?:/|$)")

_SHORTEST_PREFIX = 8


def _demand(holds: object, message: str) -> None:
    if not holds:
        raise FormatError(message)


def config_id(value: str) -> None:
    """The name of a mapping, a snapshot, a rule."""
    _demand(_CONFIG_ID.fullmatch(value), f"invalid configuration ID '{value}'")


def bridge_id(value: str) -> None:
    """The name of a bridge or virtual network."""
    _demand(_BRIDGE.fullmatch(value), f"invalid bridge ID '{value}'")


def storage_id(value: str) -> None:
    """The name of a storage."""
    _demand(len(value) > 1, f"storage ID '{value}' cannot be shorter than 2 characters")
    _demand(_STORAGE.fullmatch(value), f"storage ID '{value}' contains illegal characters")


def node_name(value: str) -> None:
    """The name of a host."""
    _demand(_NODE.fullmatch(value), "value does not look like a valid node name")


def volume_id(value: str) -> None:
    """A storage and a volume of it."""
    _demand(_VOLUME.match(value), f"unable to parse volume ID '{value}'")


def volume_id_or_path(value: str) -> None:
    """A volume, or an absolute path."""
    if not value.startswith("/"):
        volume_id(value)


def volume_id_or_medium(value: str) -> None:
    """What a drive may hold: a volume, an absolute path, `none` or `cdrom`."""
    if value not in ("none", "cdrom"):
        volume_id_or_path(value)


def unicast_mac(value: str) -> None:
    """The address of one network card."""
    _demand(_MAC.fullmatch(value), "value does not look like a valid unicast MAC address")


def url_encoded(value: str) -> None:
    """Text in which everything unusual is `%xx`."""
    _demand(_URL_ENCODED.fullmatch(value), f"invalid urlencoded string: {value}")


def dns_name(value: str) -> None:
    """Labels with dots between them."""
    _demand(_DNS_NAME.fullmatch(value), "value does not look like a valid DNS name")


def ipv4(value: str) -> None:
    """One IPv4 address."""
    _demand(_is_ipv4(value), "value does not look like a valid IPv4 address")


def ipv6(value: str) -> None:
    """One IPv6 address."""
    _demand(_is_ipv6(value), "value does not look like a valid IPv6 address")


def ipv4_config(value: str) -> None:
    """An IPv4 address with its prefix, or how to get one."""
    holds = value in ("dhcp", "manual") or _has_prefix(value, 4)
    _demand(holds, "value does not look like a valid ipv4 network configuration")


def ipv6_config(value: str) -> None:
    """An IPv6 address with its prefix, or how to get one."""
    holds = value in ("auto", "dhcp", "manual") or _has_prefix(value, 6)
    _demand(holds, "value does not look like a valid ipv6 network configuration")


def physical_bits(value: str) -> None:
    """How many address bits a CPU reports."""
    holds = _PHYSICAL_BITS.fullmatch(value) and (value == "host" or 8 <= int(value) <= 64)
    _demand(holds, "value must be an integer between 8 and 64 or 'host'")


def mount_path(value: str) -> None:
    """A path, volume or device that does not climb up."""
    _demand(not _CLIMBING.search(value), f"{value} contains illegal character sequences")


def device_path(value: str) -> None:
    """A device node of the host."""
    holds = value.startswith("/dev/") and not _DEVICE_CLIMBING.search(value)
    _demand(holds, f"{value} is not a valid device path")


def _is_ipv4(value: str) -> bool:
    try:
        ipaddress.IPv4Address(value)
    except ValueError:
        return False
    return True


def _is_ipv6(value: str) -> bool:
    try:
        ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return "%" not in value


def _has_prefix(value: str, version: int) -> bool:
    found = _PREFIX.fullmatch(value)
    if not found:
        return False
    right = _is_ipv4(found[1]) if version == 4 else _is_ipv6(found[1])
    return right and _SHORTEST_PREFIX <= int(found[2]) <= (32 if version == 4 else 128)
