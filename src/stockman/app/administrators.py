"""Who may grant access to Proxmox VE: an administrator, for as long as a run needs one.

The names of variables are those that other tools for Proxmox VE read as well. Those of a single
cluster end with its number from the second on, such as `PROXMOX_VE_API_TOKEN_2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman.model.errors import WrongUsage
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import ApiToken, Login

TOKEN, USER, PASSWORD = "PROXMOX_VE_API_TOKEN", "PROXMOX_VE_USERNAME", "PROXMOX_VE_PASSWORD"


def administrator(
    environment: Mapping[str, str], cluster: ProxmoxCluster, number: int, given: Login | None
) -> ApiToken | Login | None:
    """Who grants access to a cluster, the `number`th of all. None: nobody does.

    Raises `WrongUsage` where the environment says it by halves.
    """
    from stockman.adapters.http_proxmox.credentials import ApiToken, Login

    if given is not None:
        return given
    suffix = "" if number == 0 else f"_{number + 1}"
    named, user, password = f"{TOKEN}{suffix}", f"{USER}{suffix}", f"{PASSWORD}{suffix}"
    if environment.get(named):
        token_id, equals, secret = environment[named].partition("=")
        if "!" not in token_id or not equals or not secret:
            raise WrongUsage(half_a_token(named))
        if token_id == cluster.token_id:
            return None
        return ApiToken(id=token_id, secret=Secret(secret, resolved=True), given=named)
    if environment.get(user) and not environment.get(password):
        raise WrongUsage(_half(user, password))
    if environment.get(user):
        typed = Secret(environment[password], resolved=True)
        return Login(user=environment[user], password=typed, given=password)
    return None


def half_a_token(name: str) -> Problem:
    return Problem(
        code="proxmox.administrator",
        what=f"{name} is no token of Proxmox VE",
        where=f"environment variable {name}",
        why="it has to be user@realm!name=secret, such as root@pam!setup=1b2c…",
        fix=f"set it anew, or unset it if nobody is to grant access: `unset {name}`",
    )


def _half(user: str, password: str) -> Problem:
    return Problem(
        code="proxmox.administrator",
        what=f"{user} is set, and {password} is not",
        where=f"environment variable {user}",
        why="Proxmox VE lets nobody in by name alone",
        fix=f"set {password} too, or use `--admin` to be asked for it, or `unset {user}`",
    )
