"""What we may do, and tokens for those who act in our stead."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.kubernetes.errors import Right


@record
class Verdict:
    """Whether something is allowed."""

    allowed: bool
    why: str = ""


@record
class TokenWish:
    """For whom a token is."""

    namespace: str
    account: str
    """Name of the service account."""
    seconds: int = 3600
    """The server gives no less than 600."""
    audiences: tuple[str, ...] = ()
    """Empty: the API server itself."""


@record
class Token:
    """A token of a service account."""

    value: Secret
    expires: datetime


class Access(Protocol):
    """Rights."""

    async def may(self, right: Right) -> Verdict:
        """Whether we may do something."""
        ...

    async def token(self, wish: TokenWish) -> Token:
        """A new token of a service account, which ends by itself."""
        ...
