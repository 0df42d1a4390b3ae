"""What a cluster needs before it can follow its repository, as the rendered files have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.record import record
from stockman.steps.kube_config_map import ApplyConfigMap
from stockman.steps.kube_definitions import InstallDefinitions
from stockman.steps.kube_job import Install
from stockman.steps.kube_namespace import MakeNamespace
from stockman.steps.kube_secret import ApplySecret
from stockman.steps.kube_trial import TryComponent
from stockman.steps.kube_working import ObjectCondition


@record
class SecretWish:
    """A Secret that the cluster needs."""

    action: ApplySecret
    digests: Mapping[str, str] = field(default_factory=dict)
    """Of the values, by key, as far as they can be read now; never in a plan."""


@record
class ChartWish:
    """A chart that is installed before Flux runs."""

    component: str
    install: Install
    conditions: tuple[ObjectCondition, ...]
    """What holds once it works."""
    secrets: tuple[SecretWish, ...] = ()
    config_maps: tuple[ApplyConfigMap, ...] = ()
    trial: TryComponent | None = None
    """None: its conditions prove all there is to prove."""


@record
class KubernetesWish:
    """Everything that comes before Flux, in its order."""

    branch: str
    """The branch that the cluster follows."""
    namespaces: tuple[MakeNamespace, ...]
    definitions: tuple[InstallDefinitions, ...]
    secrets: tuple[SecretWish, ...]
    """With which Flux reads the repository."""
    charts: tuple[ChartWish, ...]
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
