"""Tokens, tried before anybody depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from stockman.model.secret import Secret
from stockman.ports.proxmox.access import Privileges


class TokenTrial(Protocol):
    """Asks Proxmox VE in the name of a token that was just made."""

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        """What a token (`user@realm!name`) may do on some paths; `Denied` where Proxmox VE does
        not take it."""
        ...
