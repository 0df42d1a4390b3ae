"""Renovate configuration: where versions are, and how updates are grouped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from stockman.model.desired import Desired
from stockman.model.policies import Upgrade
from stockman.rendering.bootstrap import Chart
from stockman.rendering.tree import REPOSITORY, RenderedFile

_NUMBER = r"(?<currentValue>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)"
"""Without the leading `v`, which is kept."""
_DIGITS = r"(?<currentValue>\d+\.\d+\.\d+)"
_OPEN, _CLOSE = r"[\"']?v?", r"[\"']?"
_TALOS_PACKAGE = {
    "depNameTemplate": "siderolabs/talos",
    "datasourceTemplate": "github-releases",
    "extractVersionTemplate": "^v(?<version>.+)$",
}
_KUBERNETES_PACKAGE = {
    "depNameTemplate": "ghcr.io/siderolabs/kubelet",
    "datasourceTemplate": "docker",
    "extractVersionTemplate": "^v(?<version>.+)$",
}
_PRODUCTS = {"talos": _TALOS_PACKAGE, "kubernetes": _KUBERNETES_PACKAGE}
_MARKED_FILES = (
    r"/^cluster\.(ya?ml|toml)$/",
    r"/^nodes\.ya?ml$/",
    r"/^talos/(talenv|topf)\.ya?ml$/",
    r"/^kubernetes/.+\.ya?ml$/",
)


def custom_managers() -> list[dict[str, object]]:
    """Return the managers for versions that Renovate's own managers do not find."""
    managers = [_marker_manager()]
    for name, product in _PRODUCTS.items():
        managers += _version_managers(name, product)
    machines = rf"/image/[0-9a-f]{{64}}/v{_NUMBER}/"
    return [
        *managers,
        _manager(
            "Talos version in the images of new nodes",
            [r"/^kubernetes/.+/machines\.ya?ml$/"],
            [machines, rf": talos-{_DIGITS}-"],
            _TALOS_PACKAGE,
        ),
    ]


def _manager(
    description: str, files: list[str], matches: list[str], package: Mapping[str, str]
) -> dict[str, object]:
    return {
        "customType": "regex",
        "description": description,
        "managerFilePatterns": files,
        "matchStrings": matches,
        **package,
    }


def _marker_manager() -> dict[str, object]:
    """Match a version in the line below `# renovate: datasource=... depName=...`."""
    names = r"datasource=(?<datasource>\S+) depName=(?<depName>\S+)"
    more = r"(?: versioning=(?<versioning>\S+))?(?: registryUrl=(?<registryUrl>\S+))?"
    value = r"[^\n]*?[:=]\s*[\"']?(?<currentValue>[^\s\"']+)"
    match = rf"#\s*renovate: {names}{more}\s*\n{value}"
    return _manager("Versions below a marker comment", list(_MARKED_FILES), [match], {})


def _version_managers(name: str, package: Mapping[str, str]) -> list[dict[str, object]]:
    flat = rf"(?:^|\n){name}_version:[ \t]*{_OPEN}{_NUMBER}{_CLOSE}"
    nested = rf"(?:^|\n){name}:[ \t]*\n(?:[ \t#][^\n]*\n|\n)*?[ \t]+version:[ \t]*{_OPEN}{_NUMBER}"
    toml = (
        rf"(?:^|\n)\[{name}\][ \t]*\n(?:[^\[\n][^\n]*\n|\n)*?version[ \t]*=[ \t]*{_OPEN}{_NUMBER}"
    )
    terraform = rf"variable\s+\"{name}_version\"\s*\{{[^}}]*?default\s*=\s*\"v?{_NUMBER}\""
    product = f"{name.capitalize()} version"
    return [
        _manager(
            f"{product} in the configuration",
            [r"/^cluster\.(ya?ml|toml)$/"],
            [flat, nested, toml],
            package,
        ),
        _manager(
            f"{product} in Terraform variables",
            [r"/^terraform/variables\.tf$/"],
            [terraform],
            package,
        ),
        _manager(
            f"{product} that tuppr upgrades to",
            [r"/^kubernetes/.+/upgrades?\.ya?ml$/"],
            [rf"\n  {name}:\n    version: v{_NUMBER}"],
            package,
        ),
    ]


PATH = ".renovaterc.json5"
TALOS = "siderolabs/talos"
KUBERNETES = "ghcr.io/siderolabs/kubelet"

_KUBERNETES_FILES = ["/(^|/)kubernetes/.+\\.ya?ml(\\.j2)?$/"]
_HELMFILES = ["/^bootstrap/helmfile(\\.d)?/.+\\.ya?ml$/"]
MARKERS = {
    "talosVersion": f"renovate: datasource=github-releases depName={TALOS}",
    "kubernetesVersion": f"renovate: datasource=docker depName={KUBERNETES}",
}
"""Comments above versions that the marker manager updates."""
_WEEKEND_SCHEDULE = "* * * * 6"
_GROUPED_CHARTS = ("flux-operator", "flux-instance")
"""Components that are updated together."""


def renovate_file(desired: Desired, charts: Iterable[Chart]) -> Iterator[RenderedFile]:
    """Return the file. JSON is valid JSON5."""
    text = json.dumps(renovate_configuration(desired, tuple(charts)), indent=2) + "\n"
    yield RenderedFile(path=PATH, owner=REPOSITORY, text=text)


def renovate_configuration(desired: Desired, charts: tuple[Chart, ...]) -> dict[str, object]:
    """Return the Renovate configuration. Updates are never merged automatically."""
    return {
        "$schema": "https://docs.renovatebot.com/renovate-schema.json",
        "extends": ["config:recommended", ":dependencyDashboard", ":semanticCommits"],
        "automerge": False,
        "schedule": [_WEEKEND_SCHEDULE],
        "ignorePaths": ["**/*.sops.*", ".stockman/**"],
        "flux": {"managerFilePatterns": _KUBERNETES_FILES},
        "kubernetes": {"managerFilePatterns": _KUBERNETES_FILES},
        "helmfile": {"managerFilePatterns": _HELMFILES},
        "packageRules": list(_rules(desired.upgrade, charts)),
        "customManagers": custom_managers(),
    }


def _rules(upgrade: Upgrade, charts: tuple[Chart, ...]) -> Iterator[dict[str, object]]:
    yield {
        "description": "Use one package name for a chart, whatever installs it",
        "matchManagers": ["helmfile"],
        "matchDatasources": ["docker"],
        "overrideDepName": "{{packageName}}",
    }
    yield {
        "description": "API versions are written by stockman",
        "matchDatasources": ["kubernetes-api"],
        "enabled": False,
    }
    packages = {chart.component: _package(chart) for chart in charts if chart.is_oci}
    if packages:
        yield {
            "description": "Group updates of charts in OCI registries",
            "matchDatasources": ["docker"],
            "matchPackageNames": sorted(set(packages.values())),
            "groupName": "OCI charts",
        }
    both = sorted(packages[name] for name in _GROUPED_CHARTS if name in packages)
    if both:
        yield {
            "description": "Update the Flux operator and its instance together",
            "matchDatasources": ["docker"],
            "matchPackageNames": both,
            "groupName": "flux-operator",
        }
    for group, package in (("talos", TALOS), ("kubernetes", KUBERNETES)):
        yield {
            "description": (
                "Upgrade machines one minor version at a time, and separate patch updates"
            ),
            "matchPackageNames": [package],
            "groupName": group,
            "separateMinorPatch": True,
            "separateMultipleMinor": True,
            "addLabels": _labels(upgrade),
        }


def _labels(upgrade: Upgrade) -> list[str]:
    """Return the labels for upgrade strategies; both if nodes use different ones."""
    strategies = {
        upgrade.strategy,
        *(node_class.strategy for node_class in upgrade.classes.values()),
    }
    return sorted(f"upgrade-{strategy}" for strategy in strategies if strategy is not None)


def _package(chart: Chart) -> str:
    return chart.source.removeprefix("oci://")
