"""TLS that trusts by CA, or by the fingerprint of the one certificate that may be shown."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress

from stockman.adapters import tls
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.ports.probe import Certificate, Door, Trust

OLDEST = ssl.TLSVersion.TLSv1_2


class WrongCertificate(ssl.SSLCertVerificationError):
    """The certificate is not the pinned one; nothing was sent."""


def context(trust: Trust) -> ssl.SSLContext:
    """The TLS of all connections. `Refused` where the CA that is given cannot be read."""
    if trust.fingerprint is not None:
        made = tls.unjudging()
        made.sslobject_class = _pinned(trust)
    else:
        try:
            made = tls.judging(trust)
        except tls.UnusableCa as error:
            raise Refused(_unreadable_ca(str(error))) from None
    made.minimum_version = OLDEST
    return made


async def seen(door: Door, seconds: float) -> Certificate | None:
    """The certificate that is shown behind a door, to tell its fingerprint. None: no answer."""
    with suppress(OSError, ValueError, TimeoutError):
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(
                door.host, door.port, ssl=tls.unjudging(), server_hostname=door.name or door.host
            )
            der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            writer.transport.abort()
            return tls.certificate(der)
    return None


def _pinned(trust: Trust) -> type[ssl.SSLObject]:
    class Pinned(ssl.SSLObject):
        """One end of a connection that ends a handshake with any other certificate."""

        def do_handshake(self) -> None:
            super().do_handshake()
            found = tls.certificate(self.getpeercert(binary_form=True) or b"")
            flaw = tls.mismatch(found, trust)
            if flaw:
                raise WrongCertificate(1, flaw)

    return Pinned


def _unreadable_ca(why: str) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE cannot be read",
        where="proxmox.tls.ca_file",
        why=why,
        fix="put the certificate there that hosts have as /etc/pve/pve-root-ca.pem",
    )
