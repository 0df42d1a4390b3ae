"""helmfile reads the rendered files: charts, versions and values are those of the repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from stockman.config.language import Dialect
from stockman.rendering.bootstrap import Chart, charts_before_flux, charts_with_crds
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.real.renovate import written
from tools.provide import Provider

FILES: dict[Dialect, tuple[str, str]] = {
    "classic": ("bootstrap/helmfile.d/00-crds.yaml", "bootstrap/helmfile.d/01-apps.yaml"),
    "toml": ("bootstrap/helmfile/crds.yaml", "bootstrap/helmfile/apps.yaml"),
}


def helmfile(place: Path, file: str, *arguments: str) -> str:
    provider = Provider()
    helm = provider.path("helm").parent
    done = subprocess.run(
        [provider.path("helmfile"), "-f", file, *arguments],
        cwd=place,
        env={**os.environ, "PATH": f"{helm}:{os.environ['PATH']}", "HOME": str(place)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def named(chart: Chart) -> tuple[str, str, str, str]:
    source = chart.source if chart.is_oci else f"{chart.release}/{chart.name}"
    return chart.release, chart.namespace, source, chart.version


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_helmfile_finds_every_release_with_its_chart(tmp_path: Path, dialect: Dialect) -> None:
    found = rendered(EVERYTHING, preset="fifteen-node", dialect=dialect)
    written(found, tmp_path)
    wanted = (
        charts_with_crds(found.selection, found.apps),
        charts_before_flux(found.selection, found.apps),
    )

    for file, charts in zip(FILES[dialect], wanted, strict=True):
        listed = json.loads(helmfile(tmp_path, file, "list", "--output", "json"))
        keys = ("name", "namespace", "chart", "version")
        assert [tuple(one[key] for key in keys) for one in listed] == [*map(named, charts)]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_helmfile_gives_charts_the_values_that_flux_gives_them(
    tmp_path: Path, dialect: Dialect
) -> None:
    found = rendered(EVERYTHING, preset="fifteen-node", dialect=dialect)
    written(found, tmp_path)
    charts = charts_before_flux(found.selection, found.apps)

    template = f"{tmp_path}/values/{{{{ .Release.Name }}}}.yaml"
    command = ("write-values", "--skip-deps", "--output-file-template", template)
    helmfile(tmp_path, FILES[dialect][1], *command)

    for chart in charts:
        base = tmp_path / f"kubernetes/apps/{chart.namespace}/{chart.release}/app"
        release = yaml.safe_load((base / "helmrelease.yaml").read_text())
        given = yaml.safe_load((tmp_path / f"values/{chart.release}.yaml").read_text())
        assert (given or {}) == release["spec"].get("values", {})
