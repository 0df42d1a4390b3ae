"""Credentials of Proxmox VE: a token, or a password that is exchanged for a ticket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from urllib.parse import quote

from stockman.model.errors import Denied
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.system import Clock
from stockman.proxmox.errors import Requester
from stockman.proxmox.transport import Reply, Request

_FIT = re.compile(r"[!-~]+")


@record
class ApiToken:
    """A token and its secret."""

    id: str
    """`user@realm!name`."""
    secret: Secret
    source: str = ""
    """Where the secret was found. Empty: unknown."""
    hint: str = ""
    """A further instruction if the token is rejected. Empty: none."""

    @property
    def requester(self) -> Requester:
        return Requester(name=f"token {self.id}", source=self.source, hint=self.hint)

    def header(self) -> str:
        """Return the Authorization header; raises `Denied` for invalid characters."""
        secret = self.secret.reveal()
        if not _FIT.fullmatch(self.id) or not _FIT.fullmatch(secret):
            raise Denied(_token_problem())
        return f"PVEAPIToken={self.id}={secret}"


class DeferredToken:
    """A token that is read when it is first used: the same run may create it."""

    def __init__(self, read: Callable[[], ApiToken]) -> None:
        """`read` is called until it returns a token, and again when the token is rejected."""
        self._read = read
        self._known: ApiToken | None = None

    @property
    def secret(self) -> Secret:
        return self._token().secret

    @property
    def requester(self) -> Requester:
        return self._token().requester

    def header(self) -> str:
        """Return the Authorization header; raises `Denied` for invalid characters."""
        return self._token().header()

    def is_renewed(self, used: str) -> bool:
        """Read the token again; returns whether it differs from the one in the used header."""
        try:
            self._known = self._read()
        except Denied:
            return False
        return self._known.header() != used

    def _token(self) -> ApiToken:
        if self._known is None:
            self._known = self._read()
        return self._known


@record
class Login:
    """A user and its password."""

    user: str
    """`user@realm`."""
    password: Secret
    source: str = ""
    """Where the password was found. Empty: unknown."""

    @property
    def requester(self) -> Requester:
        return Requester(name=f"user {self.user}", source=self.source)


@record
class Ticket:
    """The reply to a login; valid for two hours."""

    cookie: Secret
    csrf: Secret


def _token_problem() -> Problem:
    return Problem(
        code="proxmox.authentication",
        what="the token of Proxmox VE is invalid",
        where="token_id, token_secret",
        why="it is empty, or contains spaces or non-ASCII characters",
        fix="set token_id to user@realm!name and token_secret to its UUID",
    )


_AGE = timedelta(hours=1)
"""A ticket is valid for two hours."""

LogIn = Callable[[Request], Awaitable[Reply]]


class Tickets:
    """Obtains and renews the ticket of a login."""

    def __init__(self, login: Login, clock: Clock) -> None:
        self._login = login
        self._clock = clock
        self._ticket: Ticket | None = None
        self._issued_at: datetime | None = None
        self._turn = asyncio.Lock()

    async def headers(self, request: Request, log_in: LogIn) -> dict[str, str]:
        """Return the authentication headers of a request."""
        async with self._turn:
            ticket = await self._current(log_in)
        cookie = quote(ticket.cookie.reveal(), safe="")
        headers = {"Cookie": f"PVEAuthCookie={cookie}"}
        if not request.is_read:
            headers["CSRFPreventionToken"] = ticket.csrf.reveal()
        return headers

    def secrets(self) -> tuple[str, ...]:
        """Return the secret texts to mask."""
        secrets = [self._login.password.reveal()]
        if self._ticket is not None:
            secrets += [self._ticket.cookie.reveal(), self._ticket.csrf.reveal()]
        return tuple(secrets)

    async def _current(self, log_in: LogIn) -> Ticket:
        now = self._clock.now()
        if self._ticket is None or self._issued_at is None or now - self._issued_at > _AGE:
            self._ticket = await self._new(log_in)
            self._issued_at = now
        return self._ticket

    async def _new(self, log_in: LogIn) -> Ticket:
        request = Request(
            method="POST",
            segments=("access", "ticket"),
            parameters={"username": self._login.user, "password": self._login.password},
        )
        data = (await log_in(request)).data
        if not isinstance(data, dict) or data.get("NeedTFA"):
            raise Denied(_second_factor(self._login.user))
        ticket, csrf = data.get("ticket"), data.get("CSRFPreventionToken")
        if not isinstance(ticket, str) or not isinstance(csrf, str):
            raise Denied(_second_factor(self._login.user))
        return Ticket(cookie=Secret(ticket, resolved=True), csrf=Secret(csrf, resolved=True))


def _second_factor(user: str) -> Problem:
    return Problem(
        code="proxmox.authentication",
        what=f"{user} cannot log in to Proxmox VE with a password alone",
        where="POST /access/ticket",
        why="the server returned no ticket; a second factor may be required",
        fix="use an API token instead",
    )
