"""Where the API answers, how its certificate is judged, and how long one waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.probe import Door, Trust

PORT = 8006
BASE = "/api2/json"


@record
class Timeouts:
    """Seconds that each kind of call may take, all of it together."""

    connect: float = 5.0
    read: float = 20.0
    write: float = 60.0
    """Proxmox VE itself gives up after 30 s what it passes on to another host."""
    upload: float = 1800.0
    keep_alive: float = 3.0
    """How long an idle connection is used again; the server closes it after 5 s."""


@record
class Endpoints:
    """Addresses of one Proxmox cluster, tried in turn until one takes the connection."""

    urls: tuple[str, ...]
    trust: Trust = Trust()
    connect: Mapping[str, str] = field(default_factory=dict)
    """Where to dial instead, `host:port` to `host:port`."""
    timeouts: Timeouts = Timeouts()

    def doors(self) -> tuple[Door, ...]:
        """What is dialled, and whose certificate is expected. `Refused` for other addresses."""
        if not self.urls:
            raise Refused(_no_address("", "there is none"))
        return tuple(self._door(url) for url in self.urls)

    def _door(self, url: str) -> Door:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or PORT
        except ValueError:
            raise Refused(_no_address("", "it cannot be read")) from None
        if parts.scheme != "https":
            raise Refused(_no_address(host or "", "it is not https, so the token could be read"))
        if not host or parts.username is not None or parts.path.strip("/") or parts.query:
            raise Refused(_no_address(host or "", "it has to be https://host:port and no more"))
        instead = self.connect.get(f"{host}:{port}")
        if instead is None:
            return Door(host=host, port=port)
        dialled, _, dialled_port = instead.rpartition(":")
        if not dialled or not dialled_port.isdecimal():
            raise Refused(_no_address(host, f"{instead!r} is nowhere to dial instead"))
        return Door(host=dialled.strip("[]"), port=int(dialled_port), name=host)


def shown(door: Door) -> str:
    """A door for people."""
    through = f" (as {door.name})" if door.name else ""
    host = f"[{door.host}]" if ":" in door.host else door.host
    return f"https://{host}:{door.port}{through}"


def _no_address(host: str, why: str) -> Problem:
    return Problem(
        code="proxmox.address",
        what="this is no address of Proxmox VE",
        where=host,
        why=why,
        fix=f"write it as https://host:{PORT}",
    )
