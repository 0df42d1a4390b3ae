"""Problems of rendered trees, made by the files that their pages describe."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.problem import Problem
from tests.rendering.checks.trees import MEADOW, app, config_map, judged, pod

CHART = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: certificates}
spec:
  interval: 1h
  ref: {tag: v1.20.0}
  url: oci://quay.io/jetstack/charts/cert-manager
"""


def _told(code: str, files: dict[str, str]) -> Problem:
    (only,) = [problem for problem in judged(files)[1] if problem.code == code]
    return only


def _moved() -> dict[str, str]:
    files = app(config_map())
    path = f"{MEADOW}/ks.yaml"
    return {**files, path: files[path].replace("Namespace: default", "Namespace: pasture")}


def _without_its_file() -> dict[str, str]:
    files = app(config_map())
    path = f"{MEADOW}/app/kustomization.yaml"
    return {**files, path: files[path].replace("./object.yaml", "./grass.yaml")}


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "render.chart-unknown": lambda: _told("render.chart-unknown", app(CHART)),
    "render.depends-circle": lambda: _told(
        "render.depends-circle", app(config_map(), ks="  dependsOn: [{name: meadow}]\n")
    ),
    "render.depends-missing": lambda: _told(
        "render.depends-missing", app(config_map(), ks="  dependsOn: [{name: goat}]\n")
    ),
    "render.file-missing": lambda: _told("render.file-missing", _without_its_file()),
    "render.namespace": lambda: _told("render.namespace", _moved()),
    "render.not-yaml": lambda: _told("render.not-yaml", app("kind: ConfigMap\ndata: [\n")),
    "render.reference": lambda: _told(
        "render.reference", app(pod("{envFrom: [{secretRef: {name: wool}}]}"))
    ),
    "render.schema": lambda: _told("render.schema", app(config_map(more="data: {height: 3}\n"))),
    "render.twice": lambda: _told("render.twice", app(config_map(), config_map())),
    "render.unpinned": lambda: _told(
        "render.unpinned", app(pod("{image: 'docker.io/library/nginx:latest'}"))
    ),
}
