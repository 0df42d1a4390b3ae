"""NetworkAttachmentDefinitions for the configured networks."""

from __future__ import annotations

import json

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.multus.settings import PodNetwork, settings_of
from stockman.catalog.smoke_tests import TEST_IMAGE

_SPECIFICATION = "0.3.1"
_TEST_NAME = "stockman-network-card-test"


def attachments(context: ComponentContext) -> tuple[Object, ...]:
    """Return one object per network."""
    return tuple(_attachment(network) for network in settings_of(context).networks)


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
    for network in settings_of(context).networks:
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
