"""Network links of a running guest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stockman_lab.guest.first_boot import Addressing
from stockman_lab.guest.network import NicView, link_local, self_made
from stockman_lab.guest.view import GuestView

_FIRST_SLOT = 18
"""Of network cards on the PCI bus that Proxmox VE gives a machine; names are made of it."""


@dataclass(slots=True, kw_only=True)
class Link:
    """One card, as the guest set it up."""

    name: str
    mac: str
    addresses: list[str] = field(default_factory=list)
    """With prefix."""
    is_up: bool = True


def links(view: GuestView, addressings: list[Addressing] | None) -> list[Link]:
    """Links of a guest that boots; where nothing is said the first card asks for a lease."""
    return [_link(view, nic, _addressing(nic, addressings)) for nic in view.nics]


def links_after_change(view: GuestView, before: Iterable[Link]) -> list[Link]:
    """Links after cards came, went or lost their cable; a new card has no address but its own."""
    known = {link.mac: link for link in before}
    found = []
    for nic in view.nics:
        link = known.get(nic.mac.lower()) or Link(
            name=f"ens{_FIRST_SLOT + nic.number}",
            mac=nic.mac.lower(),
            addresses=[link_local(nic.mac)],
        )
        link.is_up = nic.is_linked
        found.append(link)
    return found


def _addressing(nic: NicView, addressings: list[Addressing] | None) -> Addressing:
    own_name = f"ens{_FIRST_SLOT + nic.number}"
    if addressings is None:
        return Addressing(name=own_name, dhcp4=nic.number == 0)
    for addressing in addressings:
        if addressing.mac == nic.mac.lower() or (
            not addressing.mac and addressing.name in (own_name, f"eth{nic.number}")
        ):
            return addressing
    return Addressing(name=own_name)


def _link(view: GuestView, nic: NicView, addressing: Addressing) -> Link:
    link = Link(name=addressing.name, mac=nic.mac.lower(), is_up=nic.is_linked)
    link.addresses = list(addressing.addresses)
    if nic.is_linked:
        leases = [
            view.network.lease(nic, version)
            for version, asked in ((4, addressing.dhcp4), (6, addressing.dhcp6))
            if asked
        ]
        prefix = view.network.prefix(nic) if addressing.self_made else None
        made = None if prefix is None else self_made(prefix, nic.mac)
        own = link_local(nic.mac)
        link.addresses += [one for one in (*leases, made, own) if one is not None]
    return link
