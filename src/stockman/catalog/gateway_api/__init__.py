"""Gateway API: the definitions of gateways and routes, of the standard channel."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition
from stockman.catalog.remote import RemoteManifests

_KINDS = (
    "backendtlspolicies",
    "gatewayclasses",
    "gateways",
    "grpcroutes",
    "httproutes",
    "referencegrants",
    "tlsroutes",
)
"""What Cilium and Envoy Gateway look for when they start."""
_SOURCE = "https://github.com/kubernetes-sigs/gateway-api"


def _apps(scene: ComponentContext) -> Iterator[App]:
    version = (
        f"v{scene.wish.version}" if scene.wish.version is not None else scene.known.app_version
    )
    yield App(
        name="gateway-api",
        namespace=scene.namespace,
        # Routes of applications would go with their definitions: these are never pruned.
        sheets=RemoteManifests(
            name="gateway-api",
            url=_SOURCE,
            tag=version,
            path="config/crd/standard",
            only="config/crd/standard/",
            prune=False,
        ).sheets(),
    )


COMPONENT = Component(
    name="gateway-api",
    about="The kinds with which traffic from outside is described: gateways and routes.",
    phase=Phase.DEFINITIONS,
    apps=_apps,
    ready=tuple(crd_condition(f"{kind}.gateway.networking.k8s.io") for kind in _KINDS),
    trial=None,
    definitions=("gateway.networking.k8s.io",),
    troubles=(
        KnownProblem(
            shows="a Gateway is never accepted, and nothing is logged about it",
            because="its controller was started before the definitions were there",
            fix="restart the controller's deployment once",
        ),
    ),
)
