"""Where the API answers, how its certificate is judged, and how long one waits."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from urllib.parse import urlsplit

from stockman.adapters import tls
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.environment import Certificate, ServerAddress, Trust

PORT = 8006
BASE = "/api2/json"


@record
class HttpTimeouts:
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
    timeouts: HttpTimeouts = HttpTimeouts()

    def doors(self) -> tuple[ServerAddress, ...]:
        """What is dialled, and whose certificate is expected. `Refused` for other addresses."""
        if not self.urls:
            raise Refused(_address_problem("", "there is none"))
        return tuple(self._door(url) for url in self.urls)

    def _door(self, url: str) -> ServerAddress:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or PORT
        except ValueError:
            raise Refused(_address_problem("", "it cannot be read")) from None
        if parts.scheme != "https":
            raise Refused(
                _address_problem(host or "", "it is not https, so the token could be read")
            )
        if not host or parts.username is not None or parts.path.strip("/") or parts.query:
            raise Refused(
                _address_problem(host or "", "it has to be https://host:port and no more")
            )
        instead = self.connect.get(f"{host}:{port}")
        if instead is None:
            return ServerAddress(host=host, port=port)
        dialled, _, dialled_port = instead.rpartition(":")
        if not dialled or not dialled_port.isdecimal():
            raise Refused(_address_problem(host, f"{instead!r} is nowhere to dial instead"))
        return ServerAddress(host=dialled.strip("[]"), port=int(dialled_port), name=host)


def format_address(door: ServerAddress) -> str:
    """A door for people."""
    through = f" (as {door.name})" if door.name else ""
    host = f"[{door.host}]" if ":" in door.host else door.host
    return f"https://{host}:{door.port}{through}"


def _address_problem(host: str, why: str) -> Problem:
    return Problem(
        code="proxmox.address",
        what="this is no address of Proxmox VE",
        where=host,
        why=why,
        fix=f"write it as https://host:{PORT}",
    )


MINIMUM_TLS = ssl.TLSVersion.TLSv1_2


class WrongCertificate(ssl.SSLCertVerificationError):
    """The certificate is not the pinned one; nothing was sent."""


def tls_context(trust: Trust) -> ssl.SSLContext:
    """The TLS of all connections. `Refused` where the CA that is given cannot be read."""
    if trust.fingerprint is not None:
        made = tls.insecure_context()
        made.sslobject_class = _pinning_class(trust)
    else:
        try:
            made = tls.verifying_context(trust)
        except tls.InvalidCa as error:
            raise Refused(_ca_problem(str(error))) from None
    made.minimum_version = MINIMUM_TLS
    return made


async def fetch_certificate(door: ServerAddress, seconds: float) -> Certificate | None:
    """The certificate that is shown behind a door, to tell its fingerprint. None: no answer."""
    with suppress(OSError, ValueError, TimeoutError):
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(
                door.host,
                door.port,
                ssl=tls.insecure_context(),
                server_hostname=door.name or door.host,
            )
            der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()
            return tls.parse_certificate(der)
    return None


def _pinning_class(trust: Trust) -> type[ssl.SSLObject]:
    class Pinned(ssl.SSLObject):
        """One end of a connection that ends a handshake with any other certificate."""

        def do_handshake(self) -> None:
            super().do_handshake()
            found = tls.parse_certificate(self.getpeercert(binary_form=True) or b"")
            flaw = tls.fingerprint_mismatch(found, trust)
            if flaw:
                raise WrongCertificate(1, flaw)

    return Pinned


def _ca_problem(why: str) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE cannot be read",
        where="proxmox.tls.ca_file",
        why=why,
        fix="put the certificate there that hosts have as /etc/pve/pve-root-ca.pem",
    )
