"""The controllers of Flux that look for sources and apply them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.flux.chart_sources import (
    Buckets,
    HelmCharts,
    HelmRepositories,
    OciRepositories,
)
from stockman_lab.kube.flux.controller import FluxController
from stockman_lab.kube.flux.git_sources import GitRepositories
from stockman_lab.kube.flux.known_charts import register
from stockman_lab.kube.flux.kustomizations import Kustomizations
from stockman_lab.kube.flux.upstream_trees import register_upstream
from stockman_lab.kube.helm import chart as charts

KINDS: tuple[type[FluxController], ...] = (
    GitRepositories,
    OciRepositories,
    HelmRepositories,
    HelmCharts,
    Buckets,
    Kustomizations,
)


def flux_controllers(
    repositories: Callable[[], Mapping[str, str]],
) -> tuple[type[Controller], ...]:
    """The controllers of one cluster, which find Git repositories where the lab has them."""
    register(_is_described)
    register_upstream()
    more = {"repositories": staticmethod(repositories)}
    return tuple(type(kind.__name__, (kind,), dict(more)) for kind in KINDS)


def _is_described(url: str, tag: str) -> bool:
    """Whether a chart is among those that the lab has a description of."""
    return charts.known(url, tag) is not None
