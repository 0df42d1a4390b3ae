"""What keeps a call from being made at all, in our words."""

from __future__ import annotations

import socket
import ssl

from stockman.model.errors import Refused, StockmanError, Unreachable
from stockman.model.problem import Problem


def unreachable(where: str, why: str) -> Unreachable:
    """Nobody answered, or not in time."""
    return Unreachable(
        Problem(
            code="proxmox.unreachable",
            what="the API of Proxmox VE gives no answer",
            where=where,
            why=why,
            fix="check the endpoint, the host and the network between; `stockman doctor` tells",
        )
    )


def untrusted(where: str, why: str, fingerprint: str) -> Refused:
    """The certificate is not one to be trusted, so nothing was sent."""
    pin = (
        f": it showed {fingerprint}, compare that with what `pvenode cert info` prints on the host"
        if fingerprint
        else ""
    )
    fix = (
        "give the host's /etc/pve/pve-root-ca.pem with `proxmox.tls.ca_file`, or pin"
        f" `proxmox.tls.fingerprint`{pin}"
    )
    return Refused(_no_trust(where, why, fix))


def not_pinned(where: str, why: str) -> Refused:
    """The certificate is another than the pinned one, so nothing was sent."""
    fix = "look at the host itself; if its certificate was renewed, pin the new one"
    return Refused(_no_trust(where, why, fix))


def _no_trust(where: str, why: str, fix: str) -> Problem:
    return Problem(
        code="proxmox.certificate",
        what="the certificate of Proxmox VE is not trusted, and no token was sent",
        where=where,
        why=why,
        fix=fix,
    )


def is_final(trouble: StockmanError) -> bool:
    """Whether other endpoints are left alone: one with a wrong certificate is a surprise."""
    return isinstance(trouble, Refused)


def certificate_flaw(error: BaseException) -> ssl.SSLCertVerificationError | None:
    """The refusal of a certificate behind an error. None: it is about something else."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, ssl.SSLCertVerificationError):
            return at
        at = at.__cause__ or at.__context__
    return None


def reason(error: BaseException) -> str:
    """An error of a library as a clause."""
    deepest, at = error, error
    while (following := at.__cause__ or at.__context__) is not None:
        at = following
        if isinstance(at, OSError):
            deepest = at
    if isinstance(deepest, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(deepest, ConnectionResetError | BrokenPipeError | ssl.SSLEOFError):
        return "the connection was cut"
    if isinstance(deepest, ssl.SSLError):
        return f"it does not speak TLS as we do: {uncapitalised(deepest.reason or 'no reason')}"
    if isinstance(deepest, socket.gaierror):
        return f"its name has no address ({uncapitalised(deepest.strerror or 'not told')})"
    if isinstance(deepest, TimeoutError):
        return "no connection in time"
    told = str(deepest) or type(error).__name__
    return uncapitalised(told.rstrip("."))


def uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
