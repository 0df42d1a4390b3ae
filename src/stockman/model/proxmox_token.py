"""Tokens of Proxmox VE as text: a secret alone, or together with the token that it belongs to.

The second form lets one place say both, so that they change together when a token is renewed.
"""

from __future__ import annotations

import re

from stockman.model.secret import Secret

_WHOLE = re.compile(r"(?P<id>[^\s:/!=]+@[^\s!=]+![A-Za-z][A-Za-z0-9._-]+)=(?P<secret>\S+)")


def whole_token(id: str, secret: Secret) -> Secret:  # noqa: A002  # what Proxmox VE calls it
    """A token with its secret, `csi@pve!csi=UUID`."""
    return Secret(f"{id}={secret.reveal()}", resolved=True)


def token_and_secret(named: str, kept: Secret) -> tuple[str, Secret]:
    """The id and the secret of a token that is kept; `named` where that is the secret alone."""
    found = _WHOLE.fullmatch(kept.reveal().strip())
    if found is None:
        return named, kept
    return found["id"], Secret(found["secret"], resolved=True)
