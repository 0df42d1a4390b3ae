"""What comes before Flux, taken from what was rendered."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from stockman.assessment.kubernetes import desired_kubernetes
from stockman.config.language import Dialect
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.rendering.repository import RenderedRepository
from stockman.steps.kubernetes.crds import available_crd_versions
from stockman.steps.kubernetes.resources import ApplySecret
from tests.catalog.estates import rendered, wanted
from tests.catalog.everything import EVERYTHING
from tests.fast_yaml import load_yaml


def made(
    more: Mapping[str, object] | None = None,
    preset: str = "three-node",
    dialect: Dialect = "classic",
) -> tuple[RenderedRepository, DesiredKubernetes]:
    found = rendered(more, preset=preset, dialect=dialect)
    cluster = wanted(more, preset).cluster
    assert cluster is not None
    return found, desired_kubernetes(cluster, found)


def every_secret(kubernetes: DesiredKubernetes) -> list[ApplySecret]:
    of_charts = [secret for chart in kubernetes.charts for secret in chart.secrets]
    return [one.action for one in (*kubernetes.secrets, *of_charts)]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_charts_come_in_their_order_and_definitions_first(dialect: Dialect) -> None:
    _, wish = made(EVERYTHING, "fifteen-node", dialect)

    names = [chart.component for chart in wish.charts]
    assert names[:5] == [
        "prometheus-operator-crds",
        "cilium",
        "proxmox-ccm",
        "talos-ccm",
        "coredns",
    ]
    assert names[-2:] == ["flux-operator", "flux-instance"]


def test_values_and_names_are_those_that_flux_has() -> None:
    found, wish = made()

    for chart in wish.charts:
        folder = f"kubernetes/apps/{chart.install.namespace}/{chart.install.release}/app"
        file = found.tree.get(f"{folder}/helmrelease.yaml")
        assert file is not None
        release = load_yaml(str(file.text))
        assert release["metadata"]["name"] == chart.install.release
        assert json.loads(chart.install.values) == release["spec"].get("values", {})


@pytest.mark.parametrize(
    "settings",
    [{"hubble": True}, {"hubble_ui": True}, {"mutual_authentication": True}],
    ids=lambda settings: next(iter(settings)),
)
@pytest.mark.parametrize("preset", ["single", "three-node"])
def test_the_job_of_cilium_does_not_wait_for_parts_that_need_names_of_services(
    settings: Mapping[str, object], preset: str
) -> None:
    _, kubernetes = made({"components": {"cilium": {"settings": dict(settings)}}}, preset)

    waits = {chart.component: chart.install.waits for chart in kubernetes.charts}
    arguments = next(c for c in kubernetes.charts if c.component == "cilium").install.arguments

    assert waits["cilium"] is False
    assert "--wait" not in arguments
    assert waits["coredns"] is True


def test_the_job_of_cilium_waits_without_such_parts() -> None:
    _, kubernetes = made()

    assert all(chart.install.waits for chart in kubernetes.charts)


def test_secrets_are_named_by_files_that_are_rendered() -> None:
    found, wish = made(EVERYTHING, "fifteen-node")

    secrets = every_secret(wish)

    assert [one.name for one in secrets] == ["sops-age", "proxmox-ccm-config"]
    for secret in secrets:
        for entry in secret.entries:
            path = entry.value.place.removeprefix("sops:").partition("#")[0]
            file = found.tree.get(path)
            assert file is not None
            assert isinstance(file.text, Secret)
            assert entry.key in load_yaml(file.text.reveal())["stringData"]


def test_a_token_that_is_not_there_yet_is_told() -> None:
    _, wish = made({"components": {"proxmox-ccm": {"enabled": True}}}, "fifteen-node")

    assert "proxmox-ccm" not in [chart.component for chart in wish.charts]
    assert [one.partition(" waits for ")[0] for one in wish.pending] == ["proxmox-ccm"]


def test_namespaces_have_the_labels_of_the_repository() -> None:
    _, wish = made(EVERYTHING, "fifteen-node")

    assert "flux-system" in [namespace.name for namespace in wish.namespaces]
    assert all(
        "kustomize.toolkit.fluxcd.io/prune" in namespace.annotations
        for namespace in wish.namespaces
    )


def test_definitions_of_another_version_are_left_to_flux() -> None:
    _, usual = made()
    _, other = made({"components": {"gateway-api": {"version": "1.5.0"}}})

    assert [definition.version for definition in usual.definitions] == list(
        available_crd_versions("gateway-api")
    )
    assert other.definitions == ()
