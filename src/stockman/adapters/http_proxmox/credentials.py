"""How one gets in: by a token, or by a user's password that is changed for a ticket."""

from __future__ import annotations

import re
from collections.abc import Callable

from stockman.model.errors import Denied
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.refusals import Asker

_FIT = re.compile(r"[!-~]+")


@record
class ApiToken:
    """A token and its secret."""

    id: str
    """`user@realm!name`."""
    secret: Secret
    given: str = ""
    """Where the secret was found. Empty: not told."""
    otherwise: str = ""
    """What can be done where it is not let in, beside looking at it. Empty: nothing."""

    @property
    def asker(self) -> Asker:
        return Asker(name=f"token {self.id}", given=self.given, otherwise=self.otherwise)

    def header(self) -> str:
        """The header that carries it; `Denied` where no header can."""
        secret = self.secret.reveal()
        if not _FIT.fullmatch(self.id) or not _FIT.fullmatch(secret):
            raise Denied(_unfit())
        return f"PVEAPIToken={self.id}={secret}"


class LateToken:
    """A token that is known only when it is used: it may be made by the same run."""

    def __init__(self, read: Callable[[], ApiToken]) -> None:
        """`read` is called until it returns a token, and where one is not let in any more."""
        self._read = read
        self._known: ApiToken | None = None

    @property
    def secret(self) -> Secret:
        return self._token().secret

    @property
    def asker(self) -> Asker:
        return self._token().asker

    def header(self) -> str:
        """The header that carries it; `Denied` where no header can."""
        return self._token().header()

    def is_renewed(self, used: str) -> bool:
        """Read it again; whether it is another one now than the one in a header that was used."""
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
    given: str = ""
    """Where the password was found. Empty: not told."""

    @property
    def asker(self) -> Asker:
        return Asker(name=f"user {self.user}", given=self.given)


@record
class Ticket:
    """What a login was answered with; it holds for two hours."""

    cookie: Secret
    csrf: Secret


def _unfit() -> Problem:
    return Problem(
        code="proxmox.authentication",
        what="the token of Proxmox VE cannot be sent",
        where="token_id, token_secret",
        why="it is empty, or holds blanks or characters that are not ASCII",
        fix="give token_id as user@realm!name and token_secret as the UUID that belongs to it",
    )
