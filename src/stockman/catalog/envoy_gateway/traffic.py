"""Traffic policies of gateways: compression, timeouts, TLS, client addresses."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext

_VERSION = "gateway.envoyproxy.io/v1alpha1"
_ALL_GATEWAYS: list[Object] = [{"group": "gateway.networking.k8s.io", "kind": "Gateway"}]


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
    return {
        "apiVersion": _VERSION,
        "kind": kind,
        "metadata": {"name": "envoy"},
        "spec": {**spec, "targetSelectors": _ALL_GATEWAYS, "tcpKeepalive": {}},
    }
