"""Network links: what they are, and what was wanted of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.registry import Contents, Spec, kind
from stockman_lab.talos.state import LinkState

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

LOOPBACK = "lo"
_BROADCAST = "ff:ff:ff:ff:ff:ff"
_NOTHING = "00:00:00:00:00:00"
_CARD = {
    "pciID": "1AF4:1000",
    "driverVersion": "1.0.0",
    "productID": "0x1000",
    "vendorID": "0x1af4",
    "product": "Virtio network device",
    "vendor": "Red Hat, Inc.",
}
"""Of cards that are no hardware; machines of the lab have no others."""


def _index(machine: Machine, name: str) -> int:
    return next((link.index for link in machine.state.network.links if link.name == name), 0)


def is_up(machine: Machine, name: str) -> bool:
    """Whether a link is there and carries anything."""
    return any(link.is_up for link in machine.state.network.links if link.name == name)


@kind("LinkStatuses.net.talos.dev", "network.LinkStatusController")
def link_statuses(machine: Machine) -> Contents:
    return {link.name: _status(machine, link) for link in machine.state.network.links}


def _status(machine: Machine, link: LinkState) -> Spec:
    if link.name == LOOPBACK:
        return _loopback(link)
    master = next((one.kind for one in machine.state.network.links if one.name == link.master), "")
    spec: dict[str, object] = {
        "index": link.index,
        "type": "ether",
        "linkIndex": _index(machine, link.parent) if link.parent else 0,
        "flags": _flags(link),
        "hardwareAddr": link.mac,
        "permanentAddr": link.permanent_mac or link.mac,
        "broadcastAddr": _BROADCAST,
        "mtu": link.mtu,
        "queueDisc": "noqueue" if link.kind else "pfifo_fast",
        "masterIndex": _index(machine, link.master) if link.master else 0,
        "operationalState": "up" if link.is_up else "down",
        "kind": link.kind,
        "slaveKind": master,
        "linkState": link.is_up,
        "port": "Other",
        "duplex": "Unknown",
    }
    if not link.kind:
        spec |= {"busPath": link.bus_path, "driver": link.driver or "virtio_net", **_CARD}
    if link.kind == "vlan":
        spec["vlan"] = {"vlanID": link.vlan, "vlanProtocol": "802.1q"}
    if link.kind == "bond":
        spec["bondMaster"] = _bond(link)
    return spec


def _bond(link: LinkState) -> Spec:
    return {
        "mode": link.bond_mode or "balance-rr",
        "miimon": 100,
        "resendIgmp": 1,
        "lpInterval": 1,
        "packetsPerSlave": 1,
        "numPeerNotif": 1,
        "tlbLogicalLb": 1,
        "useCarrier": True,
        "adActorSysPrio": 65535,
    }


def _loopback(link: LinkState) -> Spec:
    return {
        "index": link.index,
        "type": "loopback",
        "flags": "UP,LOOPBACK,RUNNING,LOWER_UP",
        "hardwareAddr": _NOTHING,
        "permanentAddr": "",
        "broadcastAddr": _NOTHING,
        "mtu": 65536,
        "queueDisc": "noqueue",
        "operationalState": "unknown",
        "linkState": True,
        "port": "Other",
        "duplex": "Unknown",
    }


def _flags(link: LinkState) -> str:
    texts = ["UP", "BROADCAST"]
    texts += ["RUNNING"] if link.is_up else []
    texts += ["MASTER"] if link.kind == "bond" else []
    texts += ["SLAVE"] if link.master else []
    texts += ["MULTICAST"]
    return ",".join(texts + (["LOWER_UP"] if link.is_up else []))
