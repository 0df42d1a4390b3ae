"""Renovate's configuration."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from stockman.config.presets import render_preset
from stockman.model.policies import ClassUpgrade, Upgrade
from stockman.rendering import renovate
from stockman.rendering.renovate import custom_managers
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.rendering.shapes import drawn, shaped, texts

PATH = ".renovaterc.json5"


def configuration(more: str = "") -> dict[str, Any]:
    result: dict[str, Any] = json.loads(texts(drawn(shaped(more)))[PATH])
    return result


def rule(content: dict[str, Any], group: str) -> dict[str, Any]:
    (package_rule,) = [item for item in content["packageRules"] if item.get("groupName") == group]
    assert isinstance(package_rule, dict)
    return package_rule


def test_nothing_is_merged_by_itself_and_saturday_is_the_day() -> None:
    content = configuration()

    assert content["automerge"] is False
    assert not any("automerge" in package_rule for package_rule in content["packageRules"])
    assert content["schedule"] == ["* * * * 6"]
    assert "**/*.sops.*" in content["ignorePaths"]


@pytest.mark.parametrize(
    ("upgrade", "labels"),
    [
        (Upgrade(), ["upgrade-pets"]),
        (Upgrade(strategy="cattle"), ["upgrade-cattle"]),
        (
            Upgrade(classes={"big": ClassUpgrade(strategy="cattle"), "old": ClassUpgrade()}),
            ["upgrade-cattle", "upgrade-pets"],
        ),
    ],
)
@pytest.mark.parametrize("group", ["talos", "kubernetes"])
def test_labels_say_how_machines_are_upgraded(
    upgrade: Upgrade, labels: list[str], group: str
) -> None:
    result = rule(renovate.renovate_configuration(replace(shaped(), upgrade=upgrade), ()), group)

    assert result["addLabels"] == labels
    assert result["separateMinorPatch"] is True


def test_oci_charts_come_together_and_flux_apart() -> None:
    result = rendered(EVERYTHING, preset="fifteen-node")
    content = json.loads(texts(result)[PATH])

    charts = rule(content, "OCI charts")["matchPackageNames"]
    assert "quay.io/cilium/charts/cilium" in charts
    assert not [chart for chart in charts if "://" in chart or "rook" in chart]
    assert rule(content, "flux-operator")["matchPackageNames"] == [
        "ghcr.io/controlplaneio-fluxcd/charts/flux-instance",
        "ghcr.io/controlplaneio-fluxcd/charts/flux-operator",
    ]
    order = [package_rule.get("groupName") for package_rule in content["packageRules"]]
    assert order.index("OCI charts") < order.index("flux-operator")


def test_it_can_be_turned_off() -> None:
    assert PATH not in texts(drawn(shaped("repository: {renovate: false}\n")))


def found_in(path: str, text: str) -> set[tuple[str, str]]:
    """What the managers find in a file: packages with versions."""
    result = set()
    for manager in custom_managers():
        patterns = manager["managerFilePatterns"]
        assert isinstance(patterns, list)
        if not any(re.search(pattern.strip("/"), path) for pattern in patterns):
            continue
        strings = manager["matchStrings"]
        assert isinstance(strings, list)
        for string in strings:
            # Named groups are written otherwise in Python.
            for match in re.finditer(string.replace("(?<", "(?P<"), text):
                named = match.groupdict()
                name = named.get("depName") or manager["depNameTemplate"]
                result.add((str(name), named["currentValue"]))
    return result


TALOS, KUBERNETES = "siderolabs/talos", "ghcr.io/siderolabs/kubelet"


@pytest.mark.parametrize(
    ("path", "text", "result"),
    [
        pytest.param(
            "cluster.yaml",
            'talos_version: v1.12.1\nkubernetes_version: "1.35.0"\n',
            {(TALOS, "1.12.1"), (KUBERNETES, "1.35.0")},
            id="flat keys",
        ),
        pytest.param(
            "cluster.yaml",
            "talos:\n  # the version\n  contract: 1.12\n\n  version: 1.12.1\nkubernetes:\n"
            "  version: 1.35.0\n",
            {(TALOS, "1.12.1"), (KUBERNETES, "1.35.0")},
            id="sections",
        ),
        pytest.param(
            "cluster.toml",
            '[talos]\nplatform = "nocloud"\nversion = "v1.12.1"\n\n[kubernetes]\n'
            'version = "1.35.0"\n',
            {(TALOS, "1.12.1"), (KUBERNETES, "1.35.0")},
            id="TOML",
        ),
        pytest.param(
            "cluster.toml",
            '[talos]\nplatform = "nocloud"\n\n[other]\nversion = "1.12.1"\n',
            set(),
            id="a version of something else in TOML",
        ),
        pytest.param(
            "cluster.yaml",
            "talos:\n  platform: nocloud\nother:\n  version: 1.12.1\n",
            set(),
            id="a version of something else",
        ),
        pytest.param(
            "terraform/variables.tf",
            'variable "talos_version" {\n  type    = string\n  default = "v1.12.1"\n}\n'
            'variable "kubernetes_version" {\n  default = "1.35.0"\n}\n',
            {(TALOS, "1.12.1"), (KUBERNETES, "1.35.0")},
            id="Terraform",
        ),
        pytest.param(
            "nodes.yaml",
            "# renovate: datasource=docker depName=example.com/a versioning=docker\n  tag: '1.2'\n",
            {("example.com/a", "1.2")},
            id="a marker",
        ),
    ],
)
def test_versions_are_found_where_people_write_them(
    path: str, text: str, result: set[tuple[str, str]]
) -> None:
    assert found_in(path, text) == result


@pytest.mark.parametrize("preset", ["single", "three-node", "fifteen-node"])
def test_versions_of_presets_are_found(preset: str) -> None:
    result = found_in("cluster.yaml", render_preset(preset)["cluster.yaml"])
    assert TALOS in {name for name, _ in result}
