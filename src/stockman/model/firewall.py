"""The firewall of Talos machines."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Network
from typing import Annotated, Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import DNS_LABEL, NON_EMPTY, PORTS


@record
class FirewallRule(Traced):
    """Ports of the machines that others may reach."""

    ports: Annotated[tuple[Annotated[str, PORTS], ...], NON_EMPTY]
    """Ports and ranges of ports."""
    protocol: Literal["tcp", "udp"] = "tcp"
    """Protocol."""
    from_: tuple[IPv4Network, ...] = ()
    """Who may reach them. Empty: the node network."""
    nodes: Literal["all", "controllers", "workers"] = "all"
    """Machines that the rule holds for."""


@record
class Firewall(Traced):
    """What may reach the machines themselves. Traffic between pods is not filtered here."""

    enabled: bool = False
    """Whether everything is closed that is not opened by a rule. stockman opens what Talos,
    Kubernetes and Cilium need."""
    management: tuple[IPv4Network, ...] = ()
    """Networks that reach the Talos API of every node and the Kubernetes API, besides nodes and
    pods. Empty: everyone reaches those of controllers, nobody else those of workers."""
    rules: dict[Annotated[str, DNS_LABEL], FirewallRule] = field(default_factory=dict)
    """Further openings by name."""
