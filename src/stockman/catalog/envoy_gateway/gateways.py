"""Gateways with their proxies, certificate, default routes and traffic policies."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from stockman.catalog.app import Object, manifest
from stockman.catalog.cert_manager import issuer_name
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import EXTERNAL, INTERNAL

_GATEWAY = "gateway.networking.k8s.io/v1"
_ENVOY = "gateway.envoyproxy.io/v1alpha1"
_DASHED = "${SECRET_DOMAIN/./-}"
_SECRET = f"{_DASHED}-production-tls"
_NOT_PUBLISHED: Object = {"external-dns.alpha.kubernetes.io/controller": "none"}
_ALL_GATEWAYS: list[Object] = [{"group": "gateway.networking.k8s.io", "kind": "Gateway"}]


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
    provider = {
        "type": "Kubernetes",
        "kubernetes": {
            "envoyDeployment": deployment,
            "envoyService": {"externalTrafficPolicy": "Cluster"},
        },
    }
    return manifest(
        _ENVOY,
        "EnvoyProxy",
        "envoy",
        logging={"level": {"default": "info"}},
        provider=provider,
        shutdown={"drainTimeout": "180s"},
        telemetry={"metrics": {"prometheus": {"compression": {"type": "Zstd"}}}},
    )


def _class(context: ComponentContext) -> Object:
    parameters = {
        "group": "gateway.envoyproxy.io",
        "kind": "EnvoyProxy",
        "name": "envoy",
        "namespace": context.namespace,
    }
    return manifest(
        _GATEWAY,
        "GatewayClass",
        "envoy",
        controllerName="gateway.envoyproxy.io/gatewayclass-controller",
        parametersRef=parameters,
    )


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
                    "tls": {"certificateRefs": [{"kind": "Secret", "name": _SECRET}]},
                },
            ],
        },
    }


def certificate(context: ComponentContext) -> Object:
    """Return the certificate for the domain and its direct subdomains."""
    return manifest(
        "cert-manager.io/v1",
        "Certificate",
        f"{_DASHED}-production",
        dnsNames=[context.domain, f"*.{context.domain}"],
        duration="160h",
        issuerRef={"kind": "ClusterIssuer", "name": issuer_name(context)},
        privateKey={"algorithm": "ECDSA"},
        secretName=_SECRET,
        usages=["digital signature"],
    )


def default_routes(context: ComponentContext) -> tuple[Object, ...]:
    """Return the routes for requests that match no application."""
    redirect: Object = {
        "type": "RequestRedirect",
        "requestRedirect": {"scheme": "https", "statusCode": 301},
    }
    missing: Object = {
        "type": "ExtensionRef",
        "extensionRef": {
            "group": "gateway.envoyproxy.io",
            "kind": "HTTPRouteFilter",
            "name": "not-found",
        },
    }
    return (
        _filter(),
        _route(context, "https-redirect", "http", {"filters": [redirect]}),
        _route(context, "not-found", "https", {"filters": [missing]}),
    )


def _filter() -> Object:
    response = {
        "contentType": "text/plain",
        "statusCode": 404,
        "body": {"type": "Inline", "inline": "404: not found\n"},
    }
    return manifest(_ENVOY, "HTTPRouteFilter", "not-found", directResponse=response)


def _route(context: ComponentContext, name: str, section: str, rule: Object) -> Object:
    external = context.cluster.edge.ingress_mode != "none"
    parents = (EXTERNAL, INTERNAL) if external else (INTERNAL,)
    return {
        "apiVersion": _GATEWAY,
        "kind": "HTTPRoute",
        "metadata": {"name": name, "annotations": _NOT_PUBLISHED},
        "spec": {
            "parentRefs": [
                {"name": parent, "namespace": context.namespace, "sectionName": section}
                for parent in parents
            ],
            "rules": [rule],
        },
    }


def traffic(context: ComponentContext) -> tuple[Object, ...]:
    """Return the client and backend traffic policies."""
    return (
        _policy(
            "BackendTrafficPolicy",
            compressor=[
                {"type": "Zstd", "zstd": {}},
                {"type": "Brotli", "brotli": {}},
                {"type": "Gzip", "gzip": {}},
            ],
            retry={"numRetries": 2, "retryOn": {"triggers": ["reset"]}},
            timeout={"http": {"requestTimeout": "0s"}},
        ),
        _policy(
            "ClientTrafficPolicy",
            clientIPDetection={
                "xForwardedFor": {"trustedCIDRs": [str(context.cluster.kubernetes.pod_cidr)]}
            },
            http2={"onInvalidMessage": "TerminateStream"},
            http3={},
            tls={"minVersion": "1.2", "alpnProtocols": ["h2", "http/1.1"]},
        ),
    )


def _policy(kind: str, **spec: object) -> Object:
    return manifest(_ENVOY, kind, "envoy", **spec, targetSelectors=_ALL_GATEWAYS, tcpKeepalive={})
