"""Spegel: nodes share images with each other."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import daemonset_condition
from stockman.catalog.objects import chart_sheets
from stockman.model.problem import Problems

_PORT = 29999


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "spegel": {
            "containerdSock": "/run/containerd/containerd.sock",
            "containerdRegistryConfigPath": "/etc/cri/conf.d/hosts",
            # Talos writes the mirrors of talos.registries to the same directory.
            "prependExisting": True,
        },
        "service": {"registry": {"hostPort": _PORT}},
        "serviceMonitor": {"enabled": context.is_enabled("prometheus-operator-crds")},
    }
    yield App(name="spegel", namespace=context.namespace, sheets=chart_sheets(context, values))


def _check(context: ComponentContext, problems: Problems) -> None:
    if len(context.desired.nodes) == 1:
        problems.warn(
            "component.useless",
            "spegel is enabled, but there is only one node",
            why="there is no other node to share images with",
            fix="remove spegel.enabled",
            at=context.options.where("enabled"),
        )


COMPONENT = Component(
    name="spegel",
    about="Nodes share images with each other before using a registry.",
    phase=Phase.DNS,
    apps=_apps,
    check=_check,
    ready=(daemonset_condition("spegel", "kube-system"),),
    known_problems=(
        KnownProblem(
            symptom="every node still pulls images from the registry",
            cause="containerd discards the layers that Spegel shares, which Talos sets by default",
            fix="add a Talos patch that writes /etc/cri/conf.d/20-customization.part with"
            " `discard_unpacked_layers = false` below"
            ' `[plugins."io.containerd.cri.v1.images"]`',
        ),
    ),
)
