"""Addresses, networks and URLs as Talos' rules read them."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address

from stockman.talos.patches.addresses import Url, prefix, url

_PORT = re.compile(r":[0-9]*")
_LENGTH = re.compile(r"[0-9]{1,7}")
_HIGHEST_PORT = 65535


def is_address(text: str) -> bool:
    """Whether it is an address without a zone."""
    try:
        found = ip_address(text)
    except ValueError:
        return False
    return not (isinstance(found, IPv6Address) and found.scope_id is not None)


def is_zoned_address(text: str) -> bool:
    """Whether it is an address, with a zone or without."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_network(text: str) -> bool:
    """Whether it is an address, a slash and a length."""
    try:
        prefix(text)
    except ValueError:
        return False
    return True


def is_loose_network(text: str) -> bool:
    """Whether it is a network, of which the length may start with zeros."""
    host, slash, length = text.partition("/")
    if not slash or not is_address(host) or not _LENGTH.fullmatch(length):
        return False
    return int(length) <= (32 if ip_address(host).version == 4 else 128)


def is_address_or_network(text: str) -> bool:
    return is_loose_network(text) if "/" in text else is_address(text)


def is_subnet(text: str) -> bool:
    """Whether it is a network or an address; `!` before it excludes."""
    bare = text.removeprefix("!")
    return is_network(bare) or is_zoned_address(bare)


def is_unspecified(text: str) -> bool:
    """Whether the address of a checked text is that of no machine, 0.0.0.0 or ::."""
    return ip_address(text.partition("/")[0].partition("%")[0]).is_unspecified


def host_and_port(host: str) -> tuple[str, str]:
    """The name and the port of the host part of a URL."""
    port = ""
    name, colon, digits = host.rpartition(":")
    if colon and _PORT.fullmatch(colon + digits):
        host, port = name, digits
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, port


def why_no_endpoint(text: str) -> str:
    """What is wrong with the URL of an endpoint. Empty: nothing."""
    try:
        parts = url(text)
    except ValueError as error:
        return str(error)
    host, port = host_and_port(parts.host)
    if parts.host.count(":") > 2 and "[" not in parts.host:
        return "an IPv6 address stands in brackets"
    if not host:
        return "it names no host"
    if port and not 1 <= int(port) <= _HIGHEST_PORT:
        return f"a port is a number from 1 to {_HIGHEST_PORT}"
    return ""


def requested(text: str) -> Url | None:
    """A URL that could be asked for: with a scheme, or a path from the root. None: it is none."""
    if not text.startswith("/") and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", text):
        return None
    try:
        return url(text.replace("#", "%23"))
    except ValueError:
        return None


def why_no_host_port(text: str) -> str:
    """What is wrong with a host and a port, `logs:514`. Empty: nothing."""
    host, colon, _ = text.rpartition(":")
    if not colon:
        return "the port is missing"
    if text.startswith("["):
        inside, bracket, rest = text[1:].partition("]")
        if not bracket:
            return "a bracket is missing"
        if not rest.startswith(":") or ":" in rest[1:]:
            return "one port follows the bracket"
        return "too many brackets" if "[" in inside + rest or "]" in rest else ""
    if ":" in host:
        return "an IPv6 address stands in brackets before its port"
    return "a bracket stands alone" if "[" in text or "]" in text else ""


def is_host_and_port(text: str) -> bool:
    """Whether it is a host and a port, and the host an address if it has colons."""
    if why_no_host_port(text):
        return False
    host = text.rpartition(":")[0].removeprefix("[").removesuffix("]")
    return ":" not in host or is_zoned_address(host)
