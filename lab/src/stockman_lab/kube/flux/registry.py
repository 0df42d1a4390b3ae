"""The controllers of Flux that look for sources and apply them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.flux.chart_sources import (
    OciRepositories,
)
from stockman_lab.kube.flux.controller import FluxController
from stockman_lab.kube.flux.git_sources import GitRepositories
from stockman_lab.kube.flux.kustomizations import Kustomizations

KINDS: tuple[type[FluxController], ...] = (
    GitRepositories,
    OciRepositories,
    Kustomizations,
)


def flux_controllers(
    repositories: Callable[[], Mapping[str, str]],
) -> tuple[type[Controller], ...]:
    """The controllers of one cluster, which find Git repositories where the lab has them."""
    more = {"repositories": staticmethod(repositories)}
    return tuple(type(kind.__name__, (kind,), dict(more)) for kind in KINDS)
