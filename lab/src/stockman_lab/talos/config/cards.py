"""Network cards as links: what they are called, and which of them somebody means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from stockman_lab.guest.network import NicView
from stockman_lab.talos.config.applied import AppliedLink, Layer
from stockman_lab.talos.config.expressions import NotEvaluable, selects
from stockman_lab.talos.config.link_setting import LinkSelector

_FIRST_SLOT = 18
"""Of network cards on the PCI bus that Proxmox VE gives a machine."""
_DRIVERS = {"virtio": ("virtio_net", "1AF4:1000"), "vmxnet3": ("vmxnet3", "15AD:07B0")}
_OTHER_DRIVER = ("e1000", "8086:100E")


def cards(nics: Iterable[NicView], *, predictable: bool) -> list[AppliedLink]:
    """The cards in the order of their numbers; `predictable`: named by their slots."""
    applied_links = []
    for place, nic in enumerate(sorted(nics, key=lambda one: one.number)):
        slot, mac = _FIRST_SLOT + nic.number, nic.mac.lower()
        driver, pci_id = _DRIVERS.get(nic.model, _OTHER_DRIVER)
        more = (f"enp0s{slot}", f"enx{mac.replace(':', '')}") if predictable else ()
        applied_links.append(
            AppliedLink(
                name=f"ens{slot}" if predictable else f"eth{place}",
                index=place + 2,
                mac=mac,
                permanent_mac=mac,
                mtu=nic.mtu,
                up=False,
                carrier=nic.is_linked,
                layer=Layer.KERNEL,
                alt_names=more,
                driver=driver,
                bus_path=f"0000:00:{slot:02x}.0",
                pci_id=pci_id,
                nic=nic.number,
            )
        )
    return applied_links


def aliased(links: list[AppliedLink], aliases: Mapping[str, LinkSelector]) -> list[AppliedLink]:
    """The cards with names that are given to them; a name that fits several is given to none."""
    named: dict[str, str] = {}
    for alias, selector in sorted(aliases.items()):
        fitting = [link.name for link in links if link.name not in named and fits(link, selector)]
        if len(fitting) == 1:
            named[fitting[0]] = alias
    return [
        replace(link, aliases=(named[link.name],)) if link.name in named else link for link in links
    ]


def fits(link: AppliedLink, selector: LinkSelector) -> bool:
    """Whether a card is one that is meant."""
    patterns = {
        link.mac: selector.mac,
        f"permanent {link.permanent_mac}": selector.permanent_mac
        and f"permanent {selector.permanent_mac}",
        f"bus {link.bus_path}": selector.bus_path and f"bus {selector.bus_path}",
        f"pci {link.pci_id}": selector.pci_id and f"pci {selector.pci_id}",
        f"driver {link.driver}": selector.driver and f"driver {selector.driver}",
    }
    if any(pattern and not fnmatchcase(value, pattern) for value, pattern in patterns.items()):
        return False
    if selector.physical is False:
        return False
    return not selector.expression or _matches_expression(link, selector.expression)


def _matches_expression(link: AppliedLink, expression: str) -> bool:
    spec = {
        "index": link.index,
        "type": 1,
        "kind": "",
        "hardware_addr": link.mac,
        "permanent_addr": link.permanent_mac,
        "mtu": link.mtu,
        "driver": link.driver,
        "bus_path": link.bus_path,
        "pci_id": link.pci_id,
        "pciid": link.pci_id,
        "link_state": link.carrier,
        "alt_names": list(link.alt_names),
    }
    try:
        return selects(expression, {"link": spec})
    except NotEvaluable:
        return False
