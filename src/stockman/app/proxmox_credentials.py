"""Who asks Proxmox VE before there are any files: from the environment, or typed on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman.app.administrators import PASSWORD, TOKEN, USER
from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.access_wanted import OWN_TOKEN

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import ApiToken, Login

TOKEN_ID = "PROXMOX_TOKEN_ID"
TOKEN_SECRET = "PROXMOX_TOKEN_SECRET"
_ROOT = "root@pam"


@record
class Asker:
    """Somebody who may look, and the token that the files are to name afterwards."""

    who: str
    """`user@realm!name`, or `user@realm` for whoever has a password."""
    secret: Secret
    stays: bool
    """Whether the files name this very token; otherwise it is used for this look alone."""
    given: str = ""
    """The variable that has the secret. Empty: it was typed."""

    @property
    def is_token(self) -> bool:
        return "!" in self.who

    @property
    def token_id(self) -> str:
        """The token that the files name."""
        return self.who if self.stays else OWN_TOKEN

    @property
    def token_why(self) -> str:
        """What is to be said of that token."""
        if self.stays:
            return f"The token that was used to look. Its secret is read from {TOKEN_SECRET}."
        return (
            "A token of stockman's own, with no more rights than it needs. `stockman apply` makes"
            f" it with the rights of an administrator, such as {self.who}, who looked here, and"
            " keeps its secret encrypted beside the bundle."
        )


def asker_of(environment: Mapping[str, str]) -> Asker | None:
    """Who the environment says to be. None: it says nothing.

    Raises `WrongUsage` where a part is missing.
    """
    if environment.get(TOKEN):
        who, equals, secret = environment[TOKEN].partition("=")
        if not equals or "!" not in who or not secret:
            raise WrongUsage(_unreadable())
        return Asker(who=who, secret=Secret(secret, resolved=True), stays=False, given=TOKEN)
    for name, secret_name, stays in (
        (TOKEN_ID, TOKEN_SECRET, True),
        (USER, PASSWORD, False),
    ):
        if environment.get(name):
            if not environment.get(secret_name):
                raise WrongUsage(_half(name, secret_name))
            secret_found = Secret(environment[secret_name], resolved=True)
            return Asker(who=environment[name], secret=secret_found, stays=stays, given=secret_name)
    return None


def typed_asker(who: str, secret: str) -> Asker:
    """Whoever typed this; the files name a token of root's never."""
    stays = "!" in who and not who.startswith(f"{_ROOT}!")
    return Asker(who=who, secret=Secret(secret, resolved=True), stays=stays)


def missing() -> WrongUsage:
    """The error where nobody says who asks."""
    return WrongUsage(
        Problem(
            code="init.no-credentials",
            what="nobody says who asks Proxmox VE",
            why=f"neither {TOKEN_ID} with {TOKEN_SECRET} nor {TOKEN} nor {USER} with"
            f" {PASSWORD} is set, and there is no terminal to ask on",
            fix=f"set {TOKEN_ID} (user@realm!name) and {TOKEN_SECRET} in the environment",
        )
    )


def credentials(asker: Asker) -> ApiToken | Login:
    """What opens the door."""
    from stockman.adapters.http_proxmox.credentials import ApiToken, Login

    if asker.is_token:
        return ApiToken(id=asker.who, secret=asker.secret, given=asker.given)
    return Login(user=asker.who, password=asker.secret, given=asker.given)


def _half(name: str, lacked: str) -> Problem:
    return Problem(
        code="init.no-credentials",
        what=f"{name} is set, and {lacked} is not",
        why="Proxmox VE lets nobody in with one of them alone",
        fix=f"set {lacked} in the environment too",
    )


def _unreadable() -> Problem:
    return Problem(
        code="init.no-credentials",
        what=f"{TOKEN} is no token",
        why="it has to be user@realm!name=secret",
        fix=f"set it anew, or set {TOKEN_ID} and {TOKEN_SECRET} instead",
    )
