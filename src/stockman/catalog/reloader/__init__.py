"""Reloader: pods are replaced when a Secret or ConfigMap that they use changes."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component
from stockman.catalog.conditions import available
from stockman.catalog.objects import chart_sheets
from stockman.catalog.phases import Phase
from stockman.catalog.scene import Scene
from stockman.catalog.troubles import Trouble


def _apps(scene: Scene) -> Iterator[App]:
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
    ready=(available("reloader", "kube-system"),),
    trial=None,
    troubles=(
        Trouble(
            shows="a changed Secret has no effect on a running pod",
            because="its workload does not ask for that",
            fix='annotate the workload with `reloader.stakater.com/auto: "true"`',
        ),
    ),
)
