"""Who may grant access to Proxmox VE: an administrator, for as long as a run needs one.

The names of variables are those that other tools for Proxmox VE read as well. Those of a single
cluster end with its number from the second on, such as `PROXMOX_VE_API_TOKEN_2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import ApiToken, Login

TOKEN, USER, PASSWORD = "PROXMOX_VE_API_TOKEN", "PROXMOX_VE_USERNAME", "PROXMOX_VE_PASSWORD"


def administrator(
    environment: Mapping[str, str], cluster: ProxmoxCluster, number: int, given: Login | None
) -> ApiToken | Login | None:
    """Who grants access to a cluster, the `number`th of all. None: nobody does."""
    from stockman.adapters.http_proxmox.credentials import ApiToken, Login

    if given is not None:
        return given
    suffix = "" if number == 0 else f"_{number + 1}"
    token_id, _, secret = environment.get(f"{TOKEN}{suffix}", "").partition("=")
    if token_id and secret:
        if token_id == cluster.token_id:
            return None
        return ApiToken(id=token_id, secret=Secret(secret, resolved=True))
    user, password = environment.get(f"{USER}{suffix}", ""), environment.get(f"{PASSWORD}{suffix}")
    if user and password:
        return Login(user=user, password=Secret(password, resolved=True))
    return None
