"""Tickets: what a password is changed for, renewed before they end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from urllib.parse import quote

from stockman.adapters.http_proxmox.credentials import Login, Ticket
from stockman.model.errors import Denied
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.ports.clock import Clock
from stockman.proxmox.wire import Reply, Request

_AGE = timedelta(hours=1)
"""A ticket holds for two hours."""

LogIn = Callable[[Request], Awaitable[Reply]]


class Tickets:
    """The ticket of one login."""

    def __init__(self, login: Login, clock: Clock) -> None:
        self._login = login
        self._clock = clock
        self._ticket: Ticket | None = None
        self._taken: datetime | None = None
        self._turn = asyncio.Lock()

    async def headers(self, request: Request, log_in: LogIn) -> dict[str, str]:
        """Headers that let a call in."""
        async with self._turn:
            ticket = await self._current(log_in)
        cookie = quote(ticket.cookie.reveal(), safe="")
        found = {"Cookie": f"PVEAuthCookie={cookie}"}
        if not request.is_read:
            found["CSRFPreventionToken"] = ticket.csrf.reveal()
        return found

    def secrets(self) -> tuple[str, ...]:
        """Texts that nobody may see."""
        known = [self._login.password.reveal()]
        if self._ticket is not None:
            known += [self._ticket.cookie.reveal(), self._ticket.csrf.reveal()]
        return tuple(known)

    async def _current(self, log_in: LogIn) -> Ticket:
        now = self._clock.now()
        if self._ticket is None or self._taken is None or now - self._taken > _AGE:
            self._ticket = await self._new(log_in)
            self._taken = now
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
        why="no ticket was given; a second factor may be asked for",
        fix="use an API token instead",
    )
