"""Which hosts may be dialled: this machine, and no other."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

_LOCALHOST, _LOCAL_ADDRESS = "localhost", "127.0.0.1"
_PORTS = {"http": 80, "https": 443}
_PLAIN = "/?&=%:@!$'()*+,;[]~"
"""What stays as it is in a request."""


class NoUrl(ValueError):
    """A text that leads nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a URL leads."""

    scheme: str
    host: str
    """As it is written, in small letters, without brackets."""
    port: int
    path: str
    """With the query."""
    address: str
    """To dial. Empty: not on this machine, never dialled."""

    @property
    def is_local(self) -> bool:
        return self.address != ""

    @property
    def is_name(self) -> bool:
        """Whether the host has to be looked up."""
        return not _is_address(self.host)

    @property
    def authority(self) -> str:
        """As a request says it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def target(url: str) -> Target:
    """Where a URL leads; refuses what is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise NoUrl(url) from None
    if parts.scheme not in _PORTS or not host or any(one <= " " for one in url):
        raise NoUrl(url)
    path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), _PLAIN)
    return Target(
        scheme=parts.scheme,
        host=host,
        port=_PORTS[parts.scheme] if port is None else port,
        path=path,
        address=_dial_address(host),
    )


def _dial_address(host: str) -> str:
    if host == _LOCALHOST:
        return _LOCAL_ADDRESS
    return host if _is_address(host) and ip_address(host).is_loopback else ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
