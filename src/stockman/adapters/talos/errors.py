"""What keeps a call from being made at all, in our words."""

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
"""What machines say in TLS of a certificate that they do not take, or miss."""


def describe_server(door: ServerAddress) -> str:
    """A door for people."""
    through = f" (as {door.name})" if door.name and door.name != door.host else ""
    return f"{format_address(door.host, door.port)}{through}"


def connection_error(door: ServerAddress, error: BaseException) -> StockmanError:
    """Nobody answered, or somebody whom we do not trust."""
    refused = client_certificate_error(door, error)
    if refused is not None:
        return refused
    flaw = certificate_flaw(error)
    if flaw is None:
        return Unreachable(errors.unreachable_problem(describe_server(door), error_reason(error)))
    why = str(flaw.args[-1]) if isinstance(flaw, WrongKey) else _certificate_reason(flaw)
    return Refused(errors.untrusted_certificate_problem(describe_server(door), why))


def client_certificate_error(door: ServerAddress, error: BaseException | None) -> Denied | None:
    """The error of a machine that says in TLS that it does not want us; None: it does not."""
    told = _ALERT.search(getattr(error, "reason", None) or "")
    if told is None:
        return None
    words = told["words"].lower().replace("_", " ")
    if not any(one in words for one in _REFUSAL_ALERTS):
        return None
    return Denied(
        errors.unauthenticated_problem(
            describe_server(door), f"it ends the handshake with {words!r}"
        )
    )


def _certificate_reason(flaw: ssl.SSLCertVerificationError) -> str:
    return lower_first(str(getattr(flaw, "verify_message", "") or flaw).rstrip("."))
