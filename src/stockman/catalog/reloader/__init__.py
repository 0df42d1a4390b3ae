"""Reloader: restarts pods when a Secret or ConfigMap they use changes."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition
from stockman.catalog.objects import chart_sheets


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": "reloader",
        "reloader": {
            "readOnlyRootFileSystem": True,
            "podMonitor": {
                "enabled": context.is_enabled("prometheus-operator-crds"),
                "namespace": "{{ .Release.Namespace }}",
            },
        },
    }
    yield App(name="reloader", namespace=context.namespace, sheets=chart_sheets(context, values))


COMPONENT = Component(
    name="reloader",
    about="Restarts pods when a Secret or ConfigMap they use changes.",
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(deployment_condition("reloader", "kube-system"),),
    known_problems=(
        KnownProblem(
            symptom="a changed Secret has no effect on a running pod",
            cause="its workload has not enabled reloading",
            fix='annotate the workload with `reloader.stakater.com/auto: "true"`',
        ),
    ),
)
