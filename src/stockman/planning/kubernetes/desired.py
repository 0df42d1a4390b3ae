"""What a cluster needs before it can follow its repository, as the rendered files have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.record import record
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
    """Of the values, by key, as far as they can be read now; never in a plan."""


@record
class DesiredChart:
    """A chart that is installed before Flux runs."""

    component: str
    install: ChartInstall
    conditions: tuple[ObjectCondition, ...]
    """What holds once it works."""
    secrets: tuple[DesiredSecret, ...] = ()
    config_maps: tuple[ApplyConfigMap, ...] = ()
    trial: RunSmokeTest | None = None
    """None: its conditions prove all there is to prove."""


@record
class DesiredKubernetes:
    """Everything that comes before Flux, in its order."""

    branch: str
    """The branch that the cluster follows."""
    namespaces: tuple[ApplyNamespace, ...]
    definitions: tuple[InstallCrds, ...]
    secrets: tuple[DesiredSecret, ...]
    """With which Flux reads the repository."""
    charts: tuple[DesiredChart, ...]
    """Empty: the cluster follows no repository of stockman's, and nothing is brought to it."""
    followed: tuple[ObjectCondition, ...]
    """What holds once the cluster follows its repository."""
    pending: tuple[str, ...] = ()
    """Apps that cannot be installed yet, each with what it waits for."""
    files: tuple[str, ...] = ()
    """Files and folders of the repository that are committed together. Empty: what is rendered."""
    others: Mapping[str, tuple[ObjectCondition, ...]] = field(default_factory=dict)
    """What holds once the components that Flux installs work, by component."""

    @property
    def conditions(self) -> dict[str, tuple[ObjectCondition, ...]]:
        """Of every component."""
        ours = {one.component: one.conditions for one in self.charts}
        return {**ours, FOLLOWED: self.followed, **self.others}


FOLLOWED = "repository"
"""Name under which it is told whether the cluster follows its repository."""
