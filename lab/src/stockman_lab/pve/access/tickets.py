"""Tickets and the tokens against cross-site request forgery.

The real one signs tickets with an RSA key. Here both are signed by HMAC with the key of the state:
nobody but the cluster itself ever verifies a ticket. The signature has the length of the real one,
so that cookies are as long as clients know them.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64encode
from functools import lru_cache

from stockman_lab.pve.errors import ApiError

LIFETIME = 2 * 3600
GRACE = 5 * 60
"""How far a ticket may lie in the future: clocks of hosts differ."""

_TICKET = re.compile(r"(PVE:(\S+):([A-Z0-9]{8}))::([^:\s]+)\Z")
_CSRF = re.compile(r"([A-Z0-9]{8}):(\S+)\Z")


def make_ticket(key: bytes, userid: str, now: float) -> str:
    """A ticket that says that this user has logged in."""
    plain = f"PVE:{userid}:{int(now):08X}"
    return f"{plain}::{_ticket_signature(key, plain)}"


def ticket_user(key: bytes, ticket: str, now: float) -> str | None:
    """The user that a ticket speaks for; None: it is not ours, too old, or from the future."""
    found = _TICKET.match(ticket)
    if found is None or not _is_fresh(found[3], now):
        return None
    expected = _ticket_signature(key, found[1])
    return found[2] if hmac.compare_digest(expected, _ascii(found[4])) else None


def make_csrf_token(key: bytes, userid: str, now: float) -> str:
    """The token that a browser has to send with every change."""
    stamp = f"{int(now):08X}"
    return f"{stamp}:{_csrf_signature(key, stamp, userid)}"


def check_csrf_token(key: bytes, userid: str, token: str | None, now: float) -> None:
    """Refuses a change that comes without the right token."""
    found = _CSRF.match(token or "")
    if found is not None and _is_fresh(found[1], now):
        expected = _csrf_signature(key, found[1], userid)
        if hmac.compare_digest(expected, _ascii(found[2])):
            return
    raise ApiError(401, "Permission denied - invalid csrf token")


def _is_fresh(stamp: str, now: float) -> bool:
    try:
        made = int(stamp, 16)
    except ValueError:
        return False
    return -GRACE < int(now) - made < LIFETIME


@lru_cache(maxsize=256)
def _ticket_signature(key: bytes, plain: str) -> str:
    text = plain.encode("utf-8", "surrogatepass")
    blocks = (hmac.digest(key, b"ticket%d:%b" % (part, text), "sha512") for part in range(4))
    return b64encode(b"".join(blocks)).decode()


def _csrf_signature(key: bytes, stamp: str, userid: str) -> str:
    text = f"csrf:{stamp}:{userid}".encode("utf-8", "surrogatepass")
    digest = hmac.digest(key, text, "sha256")
    return b64encode(digest).decode().rstrip("=")


def _ascii(text: str) -> str:
    """A signature that can be compared; what is not ASCII cannot be one."""
    return text if text.isascii() else ""
