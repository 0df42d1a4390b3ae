"""What keeps a call from being made at all, in our words."""

from __future__ import annotations

import re
import ssl

from stockman.adapters.grpc_talos.endpoint import shown
from stockman.adapters.grpc_talos.identity import WrongKey
from stockman.adapters.http_proxmox.failures import certificate_flaw, reason, uncapitalised
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.ports.probe import Door
from stockman.talos.api import problems

_ALERT = re.compile(r"ALERT_(?P<words>\w+)")
_NOT_WANTED = ("certificate", "unknown ca", "access denied", "decrypt error", "handshake failure")
"""What machines say in TLS of a certificate that they do not take, or miss."""


def place(door: Door) -> str:
    """A door for people."""
    through = f" (as {door.name})" if door.name and door.name != door.host else ""
    return f"{shown(door.host, door.port)}{through}"


def not_connected(door: Door, error: BaseException) -> StockmanError:
    """Nobody answered, or somebody whom we do not trust."""
    refused = not_let_in(door, error)
    if refused is not None:
        return refused
    flaw = certificate_flaw(error)
    if flaw is None:
        return Unreachable(problems.unreachable(place(door), reason(error)))
    why = str(flaw.args[-1]) if isinstance(flaw, WrongKey) else _verified(flaw)
    return Refused(problems.untrusted(place(door), why))


def not_let_in(door: Door, error: BaseException | None) -> Denied | None:
    """The error of a machine that says in TLS that it does not want us; None: it does not."""
    told = _ALERT.search(getattr(error, "reason", None) or "")
    if told is None:
        return None
    words = told["words"].lower().replace("_", " ")
    if not any(one in words for one in _NOT_WANTED):
        return None
    return Denied(problems.not_let_in(place(door), f"it ends the handshake with {words!r}"))


def _verified(flaw: ssl.SSLCertVerificationError) -> str:
    return uncapitalised(str(getattr(flaw, "verify_message", "") or flaw).rstrip("."))
