"""Gateway API: the definitions of gateways and routes, of the standard channel."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component
from stockman.catalog.conditions import established
from stockman.catalog.phases import Phase
from stockman.catalog.remote import Remote
from stockman.catalog.scene import Scene
from stockman.catalog.troubles import Trouble

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


def _apps(scene: Scene) -> Iterator[App]:
    version = f"v{scene.wish.version}" if scene.wish.version is not None else scene.known.app
    yield App(
        name="gateway-api",
        namespace=scene.namespace,
        # Routes of applications would go with their definitions: these are never pruned.
        sheets=Remote(
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
    ready=tuple(established(f"{kind}.gateway.networking.k8s.io") for kind in _KINDS),
    trial=None,
    definitions=("gateway.networking.k8s.io",),
    troubles=(
        Trouble(
            shows="a Gateway is never accepted, and nothing is logged about it",
            because="its controller was started before the definitions were there",
            fix="restart the controller's deployment once",
        ),
    ),
)
