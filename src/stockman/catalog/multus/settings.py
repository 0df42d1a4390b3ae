"""Settings of Multus: networks for pods."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from stockman.catalog.component import ComponentContext
from stockman.model.formats import LINK_NAME, Mtu, Name
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class PodNetwork(Traced):
    """A network that pods can join by name."""

    name: Name
    """Name that pods use in their annotation."""
    link: Annotated[str, LINK_NAME]
    """Parent link on the nodes, one of their `links`: the interface in the VLAN."""
    namespace: Name = "default"
    """Namespace whose pods can join it."""
    kind: Literal["macvlan", "ipvlan"] = "macvlan"
    """Interface type. macvlan: each pod has its own MAC address."""
    addresses: Literal["static", "none", "dhcp"] = "static"
    """Address assignment. static: by the annotation of the pod; none: by the pod itself; dhcp: by
    the network, which needs a daemon on every node."""
    gateway: IPv4Address | None = None
    """Gateway for `routes`. None: none."""
    routes: tuple[IPv4Network, ...] = ()
    """Networks that pods reach through the gateway."""
    mtu: Mtu | None = None
    """MTU. None: that of the link."""


@record
class MultusSettings(Traced):
    """Additional networks."""

    networks: tuple[PodNetwork, ...] = ()
    """Networks that pods may join."""


def settings_of(context: ComponentContext) -> MultusSettings:
    """Return the component's settings."""
    settings = context.settings
    return settings if isinstance(settings, MultusSettings) else MultusSettings()


def check(context: ComponentContext, problems: Problems) -> None:
    """Report networks without a link on any node, and other invalid networks."""
    brought_up = {link.name for node in context.desired.nodes for link in node.links}
    seen: set[tuple[str, str]] = set()
    for network in settings_of(context).networks:
        if network.link not in brought_up:
            problems.error(
                "multus.link",
                f"no node has the link {network.link} of the network {network.name}",
                why="interfaces of pods need a parent link that is up",
                fix=f"add `- name: {network.link}` to the links of the nodes",
                at=network.where("link"),
            )
        if network.addresses == "dhcp":
            problems.warn(
                "multus.dhcp",
                f"pods of {network.name} need a DHCP daemon for their addresses",
                why="the CNI plugin dhcp needs a daemon on every node, which stockman does "
                "not install",
                fix="use static or none, or run that daemon yourself",
                at=network.where("addresses"),
            )
        if network.routes and network.gateway is None:
            problems.error(
                "multus.gateway",
                f"routes of {network.name} have no gateway",
                why="there are routes, but gateway is not set",
                fix="set gateway, or remove routes",
                at=network.where("routes"),
            )
        if (network.namespace, network.name) in seen:
            problems.error(
                "multus.twice",
                f"the network {network.name} is defined twice in {network.namespace}",
                why="pods refer to a network by its name",
                fix="rename one of them",
                at=network.where("name"),
            )
        seen.add((network.namespace, network.name))
