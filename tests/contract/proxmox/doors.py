"""Doors that the contract of `ports.Proxmox` is run on.

A door is a function that takes a story and returns what the story comes to. It opens a fresh world
for each story: cluster `lab` of Proxmox VE 9 with the hosts `pve1` and `pve2`, on each a storage
`local` (dir: iso, vztmpl, import) and `local-zfs` (zfspool: images, rootdir), the bridge `vmbr0`,
no guests, and a token that may do everything. Another door is one more line in `DOORS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from stockman.ports.proxmox import Proxmox
from tests.adapters.http_proxmox.scripted import ScriptedServer
from tests.adapters.http_proxmox.talking import talk
from tests.contract.proxmox.small_pve import SmallPve

T = TypeVar("T")


class Door(Protocol):
    """Opens a fresh world and tells it a story."""

    def __call__(self, story: Callable[[Proxmox], Awaitable[T]]) -> T: ...


def http(story: Callable[[Proxmox], Awaitable[T]]) -> T:
    """`HttpProxmox`, with a small Proxmox VE behind it."""
    return talk(ScriptedServer(SmallPve()), story)


DOORS: dict[str, Door] = {"http": http}
