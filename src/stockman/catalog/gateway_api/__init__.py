"""Gateway API: custom resource definitions of the standard channel."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import crd_condition
from stockman.catalog.objects import RemoteManifests

_KINDS = (
    "backendtlspolicies",
    "gatewayclasses",
    "gateways",
    "grpcroutes",
    "httproutes",
    "referencegrants",
    "tlsroutes",
)
"""Kinds that Cilium and Envoy Gateway look for when they start."""
_SOURCE = "https://github.com/kubernetes-sigs/gateway-api"


def _apps(context: ComponentContext) -> Iterator[App]:
    version = (
        f"v{context.options.version}"
        if context.options.version is not None
        else context.facts.app_version
    )
    yield App(
        name="gateway-api",
        namespace=context.namespace,
        # Deleting the CRDs would delete all routes, so they are never pruned.
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
    about="Custom resource definitions of gateways and routes.",
    phase=Phase.DEFINITIONS,
    apps=_apps,
    ready=tuple(crd_condition(f"{kind}.gateway.networking.k8s.io") for kind in _KINDS),
    definitions=("gateway.networking.k8s.io",),
    known_problems=(
        KnownProblem(
            symptom="a Gateway is never accepted, and nothing is logged",
            cause="its controller started before the CRDs were installed",
            fix="restart the controller's deployment once",
        ),
    ),
)
