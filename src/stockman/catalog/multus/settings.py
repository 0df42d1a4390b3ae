"""Settings of Multus: the networks that pods may join."""

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
    """One network that pods may join by name."""

    name: Name
    """Name that a pod asks for."""
    link: Annotated[str, LINK_NAME]
    """Link of the node that it hangs on, one of the nodes' `links`: the card in the VLAN."""
    namespace: Name = "default"
    """Namespace whose pods may join it."""
    kind: Literal["macvlan", "ipvlan"] = "macvlan"
    """macvlan: each pod has a MAC address of its own."""
    addresses: Literal["static", "none", "dhcp"] = "static"
    """Where pods get their address from. static: the pod's annotation names it; none: the pod sees
    to it itself; dhcp: from the network, which needs a daemon on every node."""
    gateway: IPv4Address | None = None
    """Router of that network, for `routes`. None: none."""
    routes: tuple[IPv4Network, ...] = ()
    """Networks that pods reach through the gateway."""
    mtu: Mtu | None = None
    """None: that of the link."""


@record
class MultusSettings(Traced):
    """Networks besides the cluster's own."""

    networks: tuple[PodNetwork, ...] = ()
    """Networks that pods may join."""


def settings_of(scene: ComponentContext) -> MultusSettings:
    """The component's settings."""
    settings = scene.settings
    return settings if isinstance(settings, MultusSettings) else MultusSettings()


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report networks on links that no node brings up, and others that cannot work."""
    brought_up = {link.name for node in scene.desired.nodes for link in node.links}
    seen: set[tuple[str, str]] = set()
    for network in settings_of(scene).networks:
        if network.link not in brought_up:
            problems.error(
                "multus.link",
                f"no node brings up {network.link} for the network {network.name}",
                why="a pod's card hangs on a link that is up, and none of that name is",
                fix=f"add `- name: {network.link}` to the links of the nodes",
                at=network.where("link"),
            )
        if network.addresses == "dhcp":
            problems.warn(
                "multus.dhcp",
                f"pods of {network.name} get addresses only where a daemon asks for them",
                why="the CNI plugin dhcp needs its daemon on every node, which stockman does not"
                " install",
                fix="use static or none, or run that daemon yourself",
                at=network.where("addresses"),
            )
        if network.routes and network.gateway is None:
            problems.error(
                "multus.gateway",
                f"routes of {network.name} lead nowhere",
                why="there are routes, and no gateway",
                fix="set gateway, or remove routes",
                at=network.where("routes"),
            )
        if (network.namespace, network.name) in seen:
            problems.error(
                "multus.twice",
                f"the network {network.name} stands twice in {network.namespace}",
                why="pods name a network by its name",
                fix="rename one",
                at=network.where("name"),
            )
        seen.add((network.namespace, network.name))
