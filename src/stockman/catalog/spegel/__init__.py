"""Spegel: nodes give each other the images that one of them has."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import daemonset_condition
from stockman.catalog.objects import chart_sheets
from stockman.model.problem import Problems

_PORT = 29999


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        "spegel": {
            "containerdSock": "/run/containerd/containerd.sock",
            "containerdRegistryConfigPath": "/etc/cri/conf.d/hosts",
        },
        "service": {"registry": {"hostPort": _PORT}},
        "serviceMonitor": {"enabled": scene.on("prometheus-operator-crds")},
    }
    yield App(name="spegel", namespace=scene.namespace, sheets=chart_sheets(scene, values))


def _check(scene: ComponentContext, problems: Problems) -> None:
    if len(scene.desired.nodes) == 1:
        problems.warn(
            "component.useless",
            "spegel is on, and there is one node",
            why="there is nobody to share images with",
            fix="remove spegel.enabled",
            at=scene.wish.where("enabled"),
        )


COMPONENT = Component(
    name="spegel",
    about="Nodes take images from each other before they ask a registry.",
    phase=Phase.DNS,
    apps=_apps,
    check=_check,
    ready=(daemonset_condition("spegel", "kube-system"),),
    trial=None,
    troubles=(
        KnownProblem(
            shows="images are still pulled from the registry by every node",
            because="containerd does not read mirrors from the directory that Spegel writes to",
            fix="apply the machine configuration: it sets that directory",
        ),
    ),
)
