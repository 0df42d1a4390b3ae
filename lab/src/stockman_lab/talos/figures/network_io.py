"""What went over the links of a machine since it booted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.figures.steady import between
from stockman_lab.talos.figures.uptime import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_PACKET = 430
_AT_FIRST = 180_000_000
"""Bytes that a machine with a cluster fetches when it comes up: images of containers."""
_COUNTED = ("rx_bytes", "rx_packets", "tx_bytes", "tx_packets", "rx_multicast")


def link_names(machine: Machine) -> list[str]:
    """Links in the order of their indices, the loopback first."""
    links = sorted(machine.state.network.links, key=lambda one: one.index)
    names = [link.name for link in links]
    return names if "lo" in names else ["lo", *names]


def network_figures(machine: Machine) -> list[dict[str, object]]:
    """Counters of each link; they grow evenly with the clock, faster while more runs."""
    return [_of_link(machine, name) for name in link_names(machine)]


def network_total(machine: Machine) -> dict[str, object]:
    """All links together; the kernel calls this one by the names of all of them."""
    links = network_figures(machine)
    total: dict[str, object] = {"name": ", ".join(str(link["name"]) for link in links)}
    for name in _COUNTED:
        total[name] = sum(value for link in links if isinstance(value := link[name], int))
    return total


def _of_link(machine: Machine, name: str) -> dict[str, object]:
    link = next((one for one in machine.state.network.links if one.name == name), None)
    is_quiet = link is not None and (not link.is_up or link.kind == "dummy")
    age = 0.0 if is_quiet else uptime(machine)
    runs = sum(service.is_running for service in machine.state.services.values())
    rate = runs * 2_600.0
    fetched = _AT_FIRST if link is not None and link.nic >= 0 and machine.runs("kubelet") else 0
    received = int(age * rate * between(machine, f"rx/{name}", 0.6, 1.6))
    sent = int(age * rate * between(machine, f"tx/{name}", 0.6, 1.6))
    if name == "lo":
        sent = received
    elif age:
        received += int(fetched * min(age / 60.0, 1.0))
    return {
        "name": name,
        "rx_bytes": received,
        "rx_packets": received // _PACKET,
        "tx_bytes": sent,
        "tx_packets": sent // _PACKET,
        "rx_multicast": 0 if name == "lo" else int(age / 30),
    }
