"""Network addresses and URLs as Talos reads and prints them."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import quote, unquote

from stockman.model.pattern import pattern

_HEXADECIMAL = pattern(r"(?:[0-9a-fA-F]{2})*")
_SCHEME = pattern(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_PORT = pattern(r"(?::[0-9]*)?")
_ESCAPE = pattern(r"%(?![0-9a-fA-F]{2})")
_CONTROL = pattern(r"[\x00-\x1f\x7f]")
_HOST = pattern(r"[^\s\\^`{|}/?#@%]*")
_IN_PATH = "/:@&=+$,;!'()*~-_."


def address(text: str) -> str:
    """An IP address in its shortest form."""
    parsed = ip_address(text)
    if isinstance(parsed, IPv6Address):
        zone = f"%{parsed.scope_id}" if parsed.scope_id else ""
        mapped = parsed.ipv4_mapped
        if mapped is not None:
            return f"::ffff:{mapped}{zone}"
    return str(parsed)


def prefix(text: str) -> str:
    """An address with the length of its network, host bits and all."""
    host, slash, length = text.rpartition("/")
    if not slash or "%" in host:
        raise ValueError("a network is an address, / and a length")
    bits = 32 if ip_address(host).version == 4 else 128
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", length) or int(length) > bits:
        raise ValueError(f"the length of a network is 0 to {bits}")
    return f"{address(host)}/{length}"


def address_and_port(text: str) -> str:
    """An address with a port, `10.0.0.1:51820` or `[::1]:51820`."""
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch(r"[0-9]+", port) or int(port) > 65535:
        raise ValueError("an address, : and a port from 0 to 65535 are needed")
    bracketed = host.startswith("[") and host.endswith("]")
    host = address(host[1:-1] if bracketed else host)
    if (":" in host) != bracketed:
        raise ValueError("an IPv6 address stands in brackets before its port")
    return f"[{host}]:{int(port)}" if bracketed else f"{host}:{int(port)}"


def hardware_address(text: str) -> str:
    """Bytes in hexadecimal, `52:54:00:12:34:56`."""
    digits = text.replace(":", "")
    if not _HEXADECIMAL.fullmatch(digits):
        raise ValueError("pairs of hexadecimal digits are needed")
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2)).lower()


class Url(NamedTuple):
    """The parts of a URL that Talos merges one by one."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""
    empty_query: bool = False
    no_host: bool = False

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            if self.scheme or self.host or self.user is not None:
                hidden = self.no_host and not self.host and self.user is None
                if not hidden and (self.host or self.path or self.user is not None):
                    text += "//"
                text += f"{self.user}@" if self.user is not None else ""
                text += self.host
            path = quote(self.path, safe=_IN_PATH)
            if path and not path.startswith("/") and self.host:
                text += "/"
            text += path
        if self.empty_query or self.query:
            text += f"?{self.query}"
        return text + (f"#{quote(self.fragment, safe=_IN_PATH + '?')}" if self.fragment else "")


def url(text: str) -> Url:
    """The parts of a URL; raises ValueError."""
    if _CONTROL.search(text):
        raise ValueError("a URL has no control characters")
    rest, _, fragment = text.partition("#")
    scheme = ""
    found = _SCHEME.match(rest)
    if found is not None:
        scheme, rest = found[1].lower(), rest[found.end() :]
    elif rest.startswith(":"):
        raise ValueError("the scheme is missing")
    empty_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    fragment = _unescaped(fragment)
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, rest, None, "", "", query, fragment, empty_query)
        if ":" in rest.partition("/")[0]:
            raise ValueError("the first part of a path has no colon")
    user, host, no_host = None, "", False
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        user, host = _authority(authority)
        rest = slash + path
    elif scheme and rest.startswith("/"):
        no_host = True
    return Url(scheme, "", user, host, _unescaped(rest), query, fragment, empty_query, no_host)


def merged_url(left: Url, right: Url) -> Url:
    """Two URLs as one: what the right one has wins, part by part; its two flags always do."""
    if left.user is not None and right.user is not None:
        raise ValueError("Talos cannot merge two URLs that both name a user")
    return Url(
        right.scheme or left.scheme,
        right.opaque or left.opaque,
        right.user if left.user is None else left.user,
        right.host or left.host,
        right.path or left.path,
        right.query or left.query,
        right.fragment or left.fragment,
        right.empty_query,
        right.no_host,
    )


def _authority(text: str) -> tuple[str | None, str]:
    user, at, host = text.rpartition("@")
    _unescaped(user)
    if host.startswith("["):
        inside, bracket, port = host.rpartition("]")
        if not bracket or not inside:
            raise ValueError("a bracket is missing")
    else:
        name, colon, digits = host.partition(":")
        if not _HOST.fullmatch(name):
            raise ValueError("the name of the host has a character that is not allowed")
        port = colon + digits
    if not _PORT.fullmatch(port):
        raise ValueError("the port is not a number")
    return (user if at else None), host


def _unescaped(text: str) -> str:
    if _ESCAPE.search(text):
        raise ValueError("% is not followed by two hexadecimal digits")
    return unquote(text)
