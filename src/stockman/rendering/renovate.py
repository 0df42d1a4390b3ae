"""Renovate's configuration: where versions stand, and how updates of them are offered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stockman.model.desired import Desired
from stockman.model.upgrade import Upgrade
from stockman.rendering.bootstrap_charts import Chart
from stockman.rendering.renovate_versions import custom_managers
from stockman.rendering.tree import REPOSITORY, RenderedFile

PATH = ".renovaterc.json5"
TALOS = "siderolabs/talos"
KUBERNETES = "ghcr.io/siderolabs/kubelet"

_KUBERNETES_FILES = ["/(^|/)kubernetes/.+\\.ya?ml(\\.j2)?$/"]
_HELMFILES = ["/^bootstrap/helmfile(\\.d)?/.+\\.ya?ml$/"]
_SATURDAY = "* * * * 6"
_TOGETHER = ("flux-operator", "flux-instance")
"""Components whose versions move together."""


def renovate_file(desired: Desired, charts: Iterable[Chart]) -> Iterator[RenderedFile]:
    """The file; JSON is JSON5 too."""
    text = json.dumps(configuration(desired, tuple(charts)), indent=2) + "\n"
    yield RenderedFile(path=PATH, owner=REPOSITORY, text=text)


def configuration(desired: Desired, charts: tuple[Chart, ...]) -> dict[str, object]:
    """What Renovate is told. Nothing is merged by itself: an upgrade is somebody's decision."""
    return {
        "$schema": "https://docs.renovatebot.com/renovate-schema.json",
        "extends": ["config:recommended", ":dependencyDashboard", ":semanticCommits"],
        "automerge": False,
        "schedule": [_SATURDAY],
        "ignorePaths": ["**/*.sops.*", ".stockman/**"],
        "flux": {"managerFilePatterns": _KUBERNETES_FILES},
        "kubernetes": {"managerFilePatterns": _KUBERNETES_FILES},
        "helmfile": {"managerFilePatterns": _HELMFILES},
        "packageRules": list(_rules(desired.upgrade, charts)),
        "customManagers": custom_managers(),
    }


def _rules(upgrade: Upgrade, charts: tuple[Chart, ...]) -> Iterator[dict[str, object]]:
    yield {
        "description": "One name for a chart, whoever installs it",
        "matchManagers": ["helmfile"],
        "matchDatasources": ["docker"],
        "overrideDepName": "{{packageName}}",
    }
    yield {
        "description": "Versions of kinds are written by stockman",
        "matchDatasources": ["kubernetes-api"],
        "enabled": False,
    }
    packages = {chart.component: _package(chart) for chart in charts if chart.is_oci}
    if packages:
        yield {
            "description": "Charts in OCI registries come together",
            "matchDatasources": ["docker"],
            "matchPackageNames": sorted(set(packages.values())),
            "groupName": "OCI charts",
        }
    both = sorted(packages[name] for name in _TOGETHER if name in packages)
    if both:
        yield {
            "description": "Flux's operator and its instance are one version",
            "matchDatasources": ["docker"],
            "matchPackageNames": both,
            "groupName": "flux-operator",
        }
    for group, package in (("talos", TALOS), ("kubernetes", KUBERNETES)):
        yield {
            "description": "Machines are upgraded minor by minor, and patches apart from minors",
            "matchPackageNames": [package],
            "groupName": group,
            "separateMinorPatch": True,
            "separateMultipleMinor": True,
            "addLabels": _labels(upgrade),
        }


def _labels(upgrade: Upgrade) -> list[str]:
    """How machines are upgraded, where some of them are upgraded otherwise: both."""
    strategies = {upgrade.strategy, *(one.strategy for one in upgrade.classes.values())}
    return sorted(f"upgrade-{strategy}" for strategy in strategies if strategy is not None)


def _package(chart: Chart) -> str:
    return chart.source.removeprefix("oci://")
