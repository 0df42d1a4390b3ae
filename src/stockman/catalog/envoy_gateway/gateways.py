"""Gateways and their proxies."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.catalog.envoy_gateway.certificates import SECRET
from stockman.catalog.objects import EXTERNAL, INTERNAL

_GATEWAY = "gateway.networking.k8s.io/v1"
_ENVOY = "gateway.envoyproxy.io/v1alpha1"


def gateways(context: ComponentContext) -> tuple[Object, ...]:
    """Return the gateway class, its proxies, and the internal and external gateway."""
    return (_proxy(context), _class(context), *_gateways(context))


def _proxy(context: ComponentContext) -> Object:
    deployment: Object = {
        "replicas": 2 if len(context.desired.nodes) > 1 else 1,
        "container": {
            "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "1Gi"}},
        },
    }
    return {
        "apiVersion": _ENVOY,
        "kind": "EnvoyProxy",
        "metadata": {"name": "envoy"},
        "spec": {
            "logging": {"level": {"default": "info"}},
            "provider": {
                "type": "Kubernetes",
                "kubernetes": {
                    "envoyDeployment": deployment,
                    "envoyService": {"externalTrafficPolicy": "Cluster"},
                },
            },
            "shutdown": {"drainTimeout": "180s"},
            "telemetry": {"metrics": {"prometheus": {"compression": {"type": "Zstd"}}}},
        },
    }


def _class(context: ComponentContext) -> Object:
    return {
        "apiVersion": _GATEWAY,
        "kind": "GatewayClass",
        "metadata": {"name": "envoy"},
        "spec": {
            "controllerName": "gateway.envoyproxy.io/gatewayclass-controller",
            "parametersRef": {
                "group": "gateway.envoyproxy.io",
                "kind": "EnvoyProxy",
                "name": "envoy",
                "namespace": context.namespace,
            },
        },
    }


def _gateways(context: ComponentContext) -> Iterator[Object]:
    external = context.cluster.gateways.external
    if external is not None and context.cluster.edge.ingress_mode != "none":
        yield _gateway(EXTERNAL, f"external.{context.domain}", external)
    yield _gateway(INTERNAL, f"internal.{context.domain}", context.cluster.gateways.internal)


def _gateway(name: str, host: str, address: IPv4Address) -> Object:
    return {
        "apiVersion": _GATEWAY,
        "kind": "Gateway",
        "metadata": {
            "name": name,
            "annotations": {"external-dns.alpha.kubernetes.io/target": host},
        },
        "spec": {
            "gatewayClassName": "envoy",
            "infrastructure": {
                "annotations": {
                    "external-dns.alpha.kubernetes.io/hostname": host,
                    "lbipam.cilium.io/ips": str(address),
                }
            },
            "listeners": [
                {
                    "name": "http",
                    "protocol": "HTTP",
                    "port": 80,
                    "allowedRoutes": {"namespaces": {"from": "Same"}},
                },
                {
                    "name": "https",
                    "protocol": "HTTPS",
                    "port": 443,
                    "allowedRoutes": {"namespaces": {"from": "All"}},
                    "tls": {"certificateRefs": [{"kind": "Secret", "name": SECRET}]},
                },
            ],
        },
    }
