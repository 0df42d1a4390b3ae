"""One Proxmox cluster that can be asked, and the tokens to ask it with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.proxmox import Proxmox

Open = Callable[[str, Secret], AbstractAsyncContextManager[Proxmox]]
"""Opens the door with a token's id and its secret."""


@record
class HeldToken:
    """A token that the configuration names."""

    whose: str
    """`stockman`, or the name of a component."""
    id: str
    secret: Secret | None
    """None: it is not at hand."""
    why_not: str = ""
    """Why it is not at hand, as a clause."""


@record
class Region:
    """One Proxmox cluster."""

    cluster: ProxmoxCluster
    open: Open
    token: HeldToken
    """That of stockman."""
    others: tuple[HeldToken, ...] = ()
    """Those of components."""

    @property
    def subject(self) -> str:
        return f"region {self.cluster.region}"
