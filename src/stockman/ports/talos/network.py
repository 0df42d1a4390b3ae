"""Names, addresses and links of a machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from stockman.model.names import Mac, MachineAddress
from stockman.model.record import record


@record
class Link:
    """A network link as the kernel of a machine has it."""

    name: str
    """`eth0`, `ens18`, `eth0.62`: it depends on settings of the kernel, and tells nothing."""
    kind: str
    """Empty: a card. Else `vlan`, `bond`, `bridge`, ..."""
    type: str
    """`ether`, `loopback`."""
    mac: Mac
    """Of a card its own, also where a bond gives all of its cards the same."""
    mtu: int
    state: str
    """`up`, `down`, `unknown`, ..."""
    has_carrier: bool
    bus_path: str = ""
    driver: str = ""
    vlan: int | None = None
    """None: not a VLAN, or one that the guest does not see."""

    @property
    def is_card(self) -> bool:
        """Whether it is a network card, and not made by the kernel."""
        is_real = bool(self.bus_path) or self.driver == "virtio_net"
        return self.type == "ether" and not self.kind and is_real

    @property
    def is_up(self) -> bool:
        return self.state == "up" and self.has_carrier


@record
class LinkAddress:
    """An address on a link."""

    address: str
    """With the length of its prefix: `10.42.0.11/16`."""
    link: str


def cards(links: Iterable[Link]) -> tuple[Link, ...]:
    """The network cards among links."""
    return tuple(one for one in links if one.is_card)


class Networks(Protocol):
    """The network of a machine."""

    async def hostname(self, node: MachineAddress) -> str:
        """The name that the machine gives itself."""
        ...

    async def addresses(self, node: MachineAddress) -> tuple[LinkAddress, ...]:
        """All addresses, a shared one too where the machine holds it."""
        ...

    async def links(self, node: MachineAddress) -> tuple[Link, ...]:
        """All links, by name."""
        ...
