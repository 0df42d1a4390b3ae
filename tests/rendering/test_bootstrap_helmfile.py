"""helmfile's files."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from stockman.config.language import Dialect
from stockman.rendering.bootstrap import all_charts, charts_before_flux
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.rendering.shapes import drawn, shaped, texts

FOLDERS: dict[Dialect, tuple[str, str]] = {
    "classic": ("bootstrap/helmfile.d/00-crds.yaml", "bootstrap/helmfile.d/01-apps.yaml"),
    "toml": ("bootstrap/helmfile/crds.yaml", "bootstrap/helmfile/apps.yaml"),
}


def releases(path: str, files: dict[str, str]) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = yaml.safe_load(files[path])["releases"]
    return files


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_what_comes_before_flux_comes_in_its_order(dialect: Dialect) -> None:
    files = releases(FOLDERS[dialect][1], texts(drawn(shaped(), dialect)))

    assert [item["name"] for item in files] == [
        "cilium",
        "coredns",
        "spegel",
        "cert-manager",
        "flux-operator",
        "flux-instance",
    ]
    named = [f"{item['namespace']}/{item['name']}" for item in files]
    assert [item.get("needs", []) for item in files] == [[], *([name] for name in named[:-1])]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_only_what_can_run_at_once_is_waited_for(dialect: Dialect) -> None:
    everything = texts(rendered(EVERYTHING, preset="fifteen-node", dialect=dialect))
    files = releases(FOLDERS[dialect][1], everything)
    assert [item["name"] for item in files if item.get("wait") is False] == ["cilium"]
    usual = releases(FOLDERS[dialect][1], texts(rendered(dialect=dialect)))
    assert all("wait" not in item for item in usual)


def test_a_single_node_shares_no_images() -> None:
    files = releases(FOLDERS["classic"][1], texts(rendered(preset="single")))
    assert "spegel" not in [item["name"] for item in files]


def test_what_gives_nodes_their_identity_comes_before_names_resolve() -> None:
    files = rendered(EVERYTHING, preset="fifteen-node")
    names = [chart.release for chart in charts_before_flux(files.selection, files.apps)]
    assert names[:4] == ["cilium", "proxmox-ccm", "talos-ccm", "coredns"]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_every_release_has_its_values_in_the_repository(dialect: Dialect) -> None:
    files = texts(rendered(EVERYTHING, preset="fifteen-node", dialect=dialect))
    for path in FOLDERS[dialect]:
        for release in releases(path, files):
            base = f"kubernetes/apps/{release['namespace']}/{release['name']}/app"
            assert f"{base}/helmrelease.yaml" in files
            if "inherit" in release:
                assert f"{base}/ocirepository.yaml" in files


def test_values_of_what_comes_before_flux_need_no_substitution() -> None:
    files = texts(rendered(EVERYTHING, preset="fifteen-node"))
    for release in releases(FOLDERS["classic"][1], files):
        path = f"kubernetes/apps/{release['namespace']}/{release['name']}/app/helmrelease.yaml"
        assert "${" not in files[path]


def test_classic_releases_name_chart_and_version_of_the_sources() -> None:
    files = rendered(EVERYTHING, preset="fifteen-node")
    files = texts(files)
    known = {
        (chart.namespace, chart.release): chart for chart in all_charts(files.apps) if chart.is_main
    }
    for path in FOLDERS["classic"]:
        for release in releases(path, files):
            chart = known[release["namespace"], release["name"]]
            named = chart.source if chart.is_oci else f"{chart.release}/{chart.name}"
            assert (release["chart"], release["version"]) == (named, chart.version)


def test_charts_of_plain_repositories_bring_their_repository() -> None:
    files = texts(rendered(EVERYTHING, preset="fifteen-node"))
    content = yaml.safe_load(files[FOLDERS["classic"][0]])
    assert content["repositories"] == [
        {"name": "rook-ceph", "url": "https://charts.rook.io/release"}
    ]


def test_kinds_come_from_charts_that_come_later() -> None:
    files = texts(drawn(shaped()))
    names = [release["name"] for release in releases(FOLDERS["classic"][0], files)]
    assert names == ["cloudflare-dns"]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_without_charts_that_bring_kinds_there_is_no_list_of_them(dialect: Dialect) -> None:
    assert FOLDERS[dialect][0] not in texts(rendered(preset="single", dialect=dialect))


def test_an_app_that_waits_for_its_token_is_left_to_flux() -> None:
    files = rendered({"components": {"proxmox-ccm": {"enabled": True}}}, preset="fifteen-node")
    pending = [placed.owner for placed in files.apps if placed.app.pending]
    names = [chart.component for chart in charts_before_flux(files.selection, files.apps)]

    assert "proxmox-ccm" in pending
    assert "proxmox-ccm" not in names
