"""Reloader: pods are replaced when a Secret or ConfigMap that they use changes."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition
from stockman.catalog.objects import chart_sheets


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": "reloader",
        "reloader": {
            "readOnlyRootFileSystem": True,
            "podMonitor": {
                "enabled": scene.on("prometheus-operator-crds"),
                "namespace": "{{ .Release.Namespace }}",
            },
        },
    }
    yield App(name="reloader", namespace=scene.namespace, sheets=chart_sheets(scene, values))


COMPONENT = Component(
    name="reloader",
    about="Replaces pods when a Secret or ConfigMap that they use changes.",
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(deployment_condition("reloader", "kube-system"),),
    trial=None,
    troubles=(
        KnownProblem(
            shows="a changed Secret has no effect on a running pod",
            because="its workload does not ask for that",
            fix='annotate the workload with `reloader.stakater.com/auto: "true"`',
        ),
    ),
)
