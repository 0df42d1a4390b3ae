"""helmfile files with the releases that are installed before Flux.

Values are read from the HelmReleases of the repository, so that Flux finds the same releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stockman.config.presets import Dialect
from stockman.config.writers.commented import Commented
from stockman.config.writers.yaml_writer import render_yaml_document
from stockman.rendering.bootstrap.charts import Chart
from stockman.rendering.bootstrap.secrets import DIRECTORY
from stockman.rendering.tree import REPOSITORY, RenderedFile

_CRDS_COMMENT = (
    "Custom resource definitions that objects of the repository need. Extract only these:",
    "  helmfile -f FILE template --quiet, then keep CustomResourceDefinitions and apply them.",
    "Do not use `helmfile apply` or `helmfile sync` with this file.",
)
_APPS_COMMENT = (
    "Releases that the cluster needs before Flux; Flux adopts them later.",
    "  helmfile -f FILE sync",
)
_CRDS_ONLY = {"args": ["--include-crds", "--no-hooks"]}
_WAITING = {"cleanupOnFail": True, "wait": True, "waitForJobs": True}
_VALUES_FILE = "./templates/values.yaml.gotmpl"
_VALUES = """\
{{- $path := printf "../../../kubernetes/apps/%s/%s/app/helmrelease.yaml" .Release.Namespace \
.Release.Name }}
{{- $release := readFile $path | fromYaml }}
{{ get "spec.values" dict $release | toYaml }}
"""
_SOURCE = """\
{{- $path := printf "../../kubernetes/apps/%s/%s/app/ocirepository.yaml" .Release.Namespace \
.Release.Name }}
{{- $source := readFile $path | fromYaml }}
chart: {{ $source.spec.url }}
version: {{ $source.spec.ref.tag }}
"""
_READ_VALUES = '{{{{ (tpl (readFile "./templates/release.yaml.gotmpl") . | fromYaml).{key} }}}}'


def helmfile_files(
    definitions: Sequence[Chart], apps: Sequence[Chart], dialect: Dialect
) -> Iterator[RenderedFile]:
    """Return the helmfile files of a dialect."""
    toml = dialect == "toml"
    folder = f"{DIRECTORY}/{'helmfile' if toml else 'helmfile.d'}"
    crds_file, apps_file = ("crds", "apps") if toml else ("00-crds", "01-apps")
    texts = {
        f"{apps_file}.yaml": _text(
            _APPS_COMMENT, _WAITING, _chain_releases(_releases(apps, toml=toml))
        ),
        "templates/values.yaml.gotmpl": _VALUES,
    }
    if definitions:  # helmfile fails on a file without releases
        kinds = _releases(definitions, toml=toml)
        texts[f"{crds_file}.yaml"] = _text(_CRDS_COMMENT, _CRDS_ONLY, kinds)
    if toml:
        texts["default.yaml"] = _default()
        texts["templates/release.yaml.gotmpl"] = _SOURCE
    for name, text in texts.items():
        yield RenderedFile(path=f"{folder}/{name}", owner=REPOSITORY, text=text)


class _Releases:
    """Releases with their sources and namespaces."""

    def __init__(self, *, toml: bool) -> None:
        self.toml = toml
        self.repositories: dict[str, str] = {}
        self.releases: list[dict[str, object]] = []
        self.unawaited: set[str] = set()

    def add(self, chart: Chart) -> None:
        release: dict[str, object] = {"name": chart.release, "namespace": chart.namespace}
        if chart.is_oci and self.toml:
            release["inherit"] = [{"template": "default"}]
        elif chart.is_oci:
            release |= {"chart": chart.source, "version": chart.version, "values": [_VALUES_FILE]}
        else:
            self.repositories[chart.release] = chart.source
            name = f"{chart.release}/{chart.name}"
            release |= {"chart": name, "version": chart.version, "values": [_VALUES_FILE]}
        self.releases.append(release)
        if not chart.is_waited_for:
            self.unawaited.add(chart.release)


def _releases(charts: Iterable[Chart], *, toml: bool) -> _Releases:
    releases = _Releases(toml=toml)
    for chart in charts:
        releases.add(chart)
    return releases


def _chain_releases(releases: _Releases) -> _Releases:
    """Let each release depend on the previous one."""
    before = ""
    for release in releases.releases:
        if release["name"] in releases.unawaited:
            release |= {"wait": False, "waitForJobs": False}
        if before:
            release["needs"] = [before]
        before = f"{release['namespace']}/{release['name']}"
    return releases


def _text(comment: tuple[str, ...], defaults: Mapping[str, object], releases: _Releases) -> str:
    content: dict[str, object] = {"helmDefaults": Commented(value=dict(defaults), above=comment)}
    if releases.toml:
        content["bases"] = ["default.yaml"]
    if releases.repositories:
        content["repositories"] = [
            {"name": name, "url": url} for name, url in releases.repositories.items()
        ]
    return render_yaml_document(content | {"releases": releases.releases})


def _default() -> str:
    template = {key: _READ_VALUES.format(key=key) for key in ("chart", "version")}
    return render_yaml_document({"templates": {"default": {**template, "values": [_VALUES_FILE]}}})
