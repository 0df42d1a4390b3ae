"""Networks for pods: settings of Multus, and the objects that they result in."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.conditions import TEST_IMAGE, Condition, SmokeTest
from stockman.model.formats import LINK_NAME, Mtu, Name
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

_SPECIFICATION = "0.3.1"
_TEST_NAME = "stockman-network-card-test"


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


def check(context: ComponentContext, problems: Problems) -> None:
    """Report networks without a link on any node, and other invalid networks."""
    brought_up = {link.name for node in context.desired.nodes for link in node.links}
    seen: set[tuple[str, str]] = set()
    for network in context.settings_as(MultusSettings).networks:
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


def attachments(context: ComponentContext) -> tuple[Object, ...]:
    """Return one object per network."""
    return tuple(_attachment(network) for network in context.settings_as(MultusSettings).networks)


def _attachment(network: PodNetwork) -> Object:
    plugin: Object = {
        "cniVersion": _SPECIFICATION,
        "name": network.name,
        "type": network.kind,
        "master": network.link,
        "mode": "bridge" if network.kind == "macvlan" else "l2",
        "ipam": _addresses(network),
    }
    if network.addresses == "static":
        plugin["capabilities"] = {"ips": True}
    if network.mtu is not None:
        plugin["mtu"] = network.mtu
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": network.name, "namespace": network.namespace},
        "spec": {"config": json.dumps(plugin, indent=2)},
    }


def _addresses(network: PodNetwork) -> Object:
    if network.addresses == "none":
        return {}
    ipam: Object = {"type": network.addresses}
    if network.routes:
        ipam["routes"] = [
            {"dst": str(route), "gw": str(network.gateway)} for route in network.routes
        ]
    return ipam


def network_smoke_test(context: ComponentContext) -> SmokeTest | None:
    """Return a test with a pod in the first network; None if there are no networks."""
    for network in context.settings_as(MultusSettings).networks:
        return _smoke_test(network)
    return None


def _smoke_test(network: PodNetwork) -> SmokeTest:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": _TEST_NAME,
            "namespace": network.namespace,
            "annotations": {"k8s.v1.cni.cncf.io/networks": network.name},
        },
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "look",
                    "image": TEST_IMAGE,
                    "command": ["cat", "/sys/class/net/net1/address"],
                }
            ],
        },
    }
    seen = Condition(
        kind="v1 Pod",
        name=_TEST_NAME,
        expr="object.status.phase == 'Succeeded'",
        says="the pod has a second interface",
        namespace=network.namespace,
    )
    return SmokeTest(
        says=f"a pod joins the network {network.name}", objects=(pod,), until=(seen,), seconds=120
    )
