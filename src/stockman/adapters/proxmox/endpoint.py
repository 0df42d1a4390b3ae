"""Endpoints of a Proxmox cluster: addresses, trust and timeouts."""

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
    """Timeouts in seconds, for the whole request."""

    connect: float = 5.0
    read: float = 20.0
    write: float = 60.0
    """Proxmox VE itself gives up after 30 s on requests that it forwards to another host."""
    upload: float = 1800.0
    keep_alive: float = 3.0
    """How long an idle connection is reused; the server closes it after 5 s."""


@record
class Endpoints:
    """Addresses of a Proxmox cluster, tried in turn until a connection succeeds."""

    urls: tuple[str, ...]
    trust: Trust = Trust()
    connect: Mapping[str, str] = field(default_factory=dict)
    """Replacement addresses for connections, `host:port` to `host:port`."""
    timeouts: HttpTimeouts = HttpTimeouts()

    def servers(self) -> tuple[ServerAddress, ...]:
        """Return addresses to connect to, with expected certificate names; raises `Refused`."""
        if not self.urls:
            raise Refused(_address_problem("", "no address is configured"))
        return tuple(self._parse(url) for url in self.urls)

    def pairs(self) -> tuple[tuple[ServerAddress, str], ...]:
        """Return addresses to connect to, each with its URL; raises `Refused`."""
        return tuple(zip(self.servers(), self.urls, strict=True))

    def _parse(self, url: str) -> ServerAddress:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or PORT
        except ValueError:
            raise Refused(_address_problem("", "it is not a valid URL")) from None
        if parts.scheme != "https":
            raise Refused(
                _address_problem(host or "", "it is not https, so others could read the token")
            )
        if not host or parts.username is not None or parts.path.strip("/") or parts.query:
            raise Refused(_address_problem(host or "", "it must have the form https://host:port"))
        replacement = self.connect.get(f"{host}:{port}")
        if replacement is None:
            return ServerAddress(host=host, port=port)
        other_host, _, other_port = replacement.rpartition(":")
        if not other_host or not other_port.isdecimal():
            raise Refused(
                _address_problem(host, f"the replacement {replacement!r} is not host:port")
            )
        return ServerAddress(host=other_host.strip("[]"), port=int(other_port), name=host)


def format_address(server: ServerAddress) -> str:
    """Format a server address for messages."""
    suffix = f" (as {server.name})" if server.name else ""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"https://{host}:{server.port}{suffix}"


def _address_problem(host: str, why: str) -> Problem:
    return Problem(
        code="proxmox.address",
        what="the address of Proxmox VE is invalid",
        where=host,
        why=why,
        fix=f"write it as https://host:{PORT}",
    )


MINIMUM_TLS = ssl.TLSVersion.TLSv1_2


class WrongCertificate(ssl.SSLCertVerificationError):
    """The certificate has another fingerprint; nothing was sent."""


def tls_context(trust: Trust) -> ssl.SSLContext:
    """Return the TLS context of all connections; raises `Refused` for an invalid CA."""
    if trust.fingerprint is not None:
        context = tls.insecure_context()
        context.sslobject_class = _pinning_class(trust)
    else:
        try:
            context = tls.verifying_context(trust)
        except tls.InvalidCa as error:
            raise Refused(_ca_problem(str(error))) from None
    context.minimum_version = MINIMUM_TLS
    return context


async def fetch_certificate(server: ServerAddress, seconds: float) -> Certificate | None:
    """Return the certificate of a server, for its fingerprint. None: no connection."""
    with suppress(OSError, ValueError, TimeoutError):
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(
                server.host,
                server.port,
                ssl=tls.insecure_context(),
                server_hostname=server.name or server.host,
            )
            der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()
            return tls.parse_certificate(der)
    return None


def _pinning_class(trust: Trust) -> type[ssl.SSLObject]:
    class Pinned(ssl.SSLObject):
        """A TLS connection that aborts the handshake for any other certificate."""

        def do_handshake(self) -> None:
            super().do_handshake()
            certificate = tls.parse_certificate(self.getpeercert(binary_form=True) or b"")
            flaw = tls.fingerprint_mismatch(certificate, trust)
            if flaw:
                raise WrongCertificate(1, flaw)

    return Pinned


def _ca_problem(why: str) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE is invalid",
        where="proxmox.tls.ca_file",
        why=why,
        fix="use the certificate /etc/pve/pve-root-ca.pem of a host",
    )
