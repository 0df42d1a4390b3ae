"""Errors of connections, and the translation of replies."""

from __future__ import annotations

import re
import ssl

from stockman.adapters.proxmox.errors import certificate_flaw, error_reason, lower_first
from stockman.adapters.talos.endpoint import format_address
from stockman.adapters.talos.tls import WrongKey
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.ports.environment import ServerAddress
from stockman.talos.api import errors

_ALERT = re.compile(r"ALERT_(?P<words>\w+)")
_REFUSAL_ALERTS = (
    "certificate",
    "unknown ca",
    "access denied",
    "decrypt error",
    "handshake failure",
)
"""TLS alerts for a rejected or missing client certificate."""


def describe_server(server: ServerAddress) -> str:
    """Format a server address for messages."""
    suffix = f" (as {server.name})" if server.name and server.name != server.host else ""
    return f"{format_address(server.host, server.port)}{suffix}"


def connection_error(server: ServerAddress, error: BaseException) -> StockmanError:
    """Return the error of a failed connection."""
    rejection = client_certificate_error(server, error)
    if rejection is not None:
        return rejection
    flaw = certificate_flaw(error)
    if flaw is None:
        return Unreachable(errors.unreachable_problem(describe_server(server), error_reason(error)))
    why = str(flaw.args[-1]) if isinstance(flaw, WrongKey) else _certificate_reason(flaw)
    return Refused(errors.untrusted_certificate_problem(describe_server(server), why))


def client_certificate_error(server: ServerAddress, error: BaseException | None) -> Denied | None:
    """Return the error of a TLS alert for the client certificate. None: another error."""
    match = _ALERT.search(getattr(error, "reason", None) or "")
    if match is None:
        return None
    alert = match["words"].lower().replace("_", " ")
    if not any(text in alert for text in _REFUSAL_ALERTS):
        return None
    return Denied(
        errors.unauthenticated_problem(
            describe_server(server), f"it aborts the handshake with {alert!r}"
        )
    )


def _certificate_reason(flaw: ssl.SSLCertVerificationError) -> str:
    return lower_first(str(getattr(flaw, "verify_message", "") or flaw).rstrip("."))
