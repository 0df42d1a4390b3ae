"""Desired objects of a cluster before it follows its repository, from the rendered files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.record import record
from stockman.ports.repository import RemoteBranch
from stockman.steps.kubernetes.chart import ChartInstall
from stockman.steps.kubernetes.crds import InstallCrds
from stockman.steps.kubernetes.readiness import ObjectCondition
from stockman.steps.kubernetes.resources import ApplyConfigMap, ApplyNamespace, ApplySecret
from stockman.steps.kubernetes.smoke_test import RunSmokeTest


@record
class DesiredSecret:
    """A Secret that the cluster needs."""

    action: ApplySecret
    digests: Mapping[str, str] = field(default_factory=dict)
    """Digests of the values that can be read now, by key; never in a plan."""


@record
class DesiredChart:
    """A chart that is installed before Flux runs."""

    component: str
    install: ChartInstall
    conditions: tuple[ObjectCondition, ...]
    """Conditions that are true when it is ready."""
    secrets: tuple[DesiredSecret, ...] = ()
    config_maps: tuple[ApplyConfigMap, ...] = ()


@record
class DesiredKubernetes:
    """Everything that is installed before Flux, in this order, and the smoke tests."""

    branch: str
    """The branch that the cluster follows."""
    namespaces: tuple[ApplyNamespace, ...]
    definitions: tuple[InstallCrds, ...]
    secrets: tuple[DesiredSecret, ...]
    """Secrets with which Flux reads the repository."""
    charts: tuple[DesiredChart, ...]
    """Empty: the cluster does not follow a repository of stockman, and nothing is installed."""
    followed: tuple[ObjectCondition, ...]
    """Conditions that are true when the cluster follows its repository."""
    push_message: str = ""
    """Message of the commit with the rendered files. Empty: the default."""
    pull_request: str = ""
    """The branch that is pushed instead of the followed one. Empty: none."""
    pending: tuple[str, ...] = ()
    """Apps that cannot be installed yet, each with what it waits for."""
    files: tuple[str, ...] = ()
    """Files and folders that are committed together. Empty: the rendered ones."""
    remote: RemoteBranch | None = None
    """The branch as Flux fetches it. None: it is not checked."""
    others: Mapping[str, tuple[ObjectCondition, ...]] = field(default_factory=dict)
    """Conditions of the components that Flux installs, by component."""
    smoke_tests: tuple[RunSmokeTest, ...] = ()
    """Smoke tests of all components, in the order of their phases."""

    @property
    def conditions(self) -> dict[str, tuple[ObjectCondition, ...]]:
        """Conditions of every component, and of following the repository."""
        before_flux = {chart.component: chart.conditions for chart in self.charts}
        return {**before_flux, FOLLOWED: self.followed, **self.others}

    @property
    def tested_components(self) -> frozenset[str]:
        """Names of the components with a smoke test."""
        return frozenset(test.component for test in self.smoke_tests)


FOLLOWED = "repository"
"""Name under which conditions and results of following the repository are kept."""
