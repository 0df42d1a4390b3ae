"""Routes from gateways to services."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.scene import Scene

INTERNAL = "envoy-internal"
EXTERNAL = "envoy-external"
GATEWAYS_NAMESPACE = "network"


def public_gateway(scene: Scene) -> str:
    """The gateway of what others may reach: the external one, if there is one."""
    return INTERNAL if scene.cluster.edge.ingress_mode == "none" else EXTERNAL


def route(
    name: str, host: str, gateway: str, backend: tuple[str, int], *, prefix: str = ""
) -> Object:
    """A route from a name on a gateway to a service."""
    service, port = backend
    rule: Object = {"backendRefs": [{"name": service, "port": port}]}
    if prefix:
        rule["matches"] = [{"path": {"type": "PathPrefix", "value": prefix}}]
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name},
        "spec": {
            "hostnames": [host],
            "parentRefs": [
                {"name": gateway, "namespace": GATEWAYS_NAMESPACE, "sectionName": "https"}
            ],
            "rules": [rule],
        },
    }
