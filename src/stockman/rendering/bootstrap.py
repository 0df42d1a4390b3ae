"""Files that bootstrap a cluster: helmfile, charts and the first secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import InputFiles, Phase
from stockman.catalog.selection import SelectedComponent
from stockman.config.language import Dialect
from stockman.config.writers.yaml_writer import Commented, render_yaml_document
from stockman.model.desired import Cluster
from stockman.model.git_address import git_host
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.rendering.applications import OrderedApp
from stockman.rendering.templates.contract import host_keys
from stockman.rendering.tree import REPOSITORY, RenderedFile, render_sheet

_FOLDER = "app"
"""Directory in which helmfile looks for the values of a release."""


@record
class Chart:
    """A chart and its Helm release."""

    component: str
    release: str
    """Also the name of the directory with its values, below that of the namespace."""
    namespace: str
    source: str
    """`oci://...` including the chart name, or the URL of a repository."""
    name: str
    """Chart name in a repository; empty for OCI, whose URL contains it."""
    version: str
    folder: str
    """Directory of the app below that of the component."""
    has_definitions: bool
    """Whether the chart may install custom resource definitions."""
    is_waited_for: bool
    """Whether all of its objects can become ready before anything else is installed."""

    @property
    def is_main(self) -> bool:
        """Whether its values are in the usual directory."""
        return self.folder == _FOLDER

    @property
    def is_oci(self) -> bool:
        return self.source.startswith("oci://")


def charts_before_flux(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> tuple[Chart, ...]:
    """Return the releases that the cluster needs before Flux can run, in order.

    Suspended apps are left to Flux.
    """
    ready = (placed for placed in apps if not placed.app.pending)
    known = {chart.component: chart for chart in all_charts(ready) if chart.is_main}
    first = [item for item in selection if item.component.phase.before_flux]
    first = [item for item in first if item.component.phase is not Phase.DEFINITIONS]
    return tuple(known[name] for name in _order_names(first) if name in known)


def charts_with_crds(
    selection: Iterable[SelectedComponent], apps: Iterable[OrderedApp]
) -> tuple[Chart, ...]:
    """Return the releases with CRDs that must exist before their release is installed."""
    placed = tuple(apps)
    chosen = tuple(selection)
    early = {chart.component for chart in charts_before_flux(chosen, placed)}
    bringing = {item.component.name for item in chosen if item.component.definitions} - early
    return tuple(
        chart
        for chart in all_charts(placed)
        if chart.is_main and chart.has_definitions and chart.component in bringing
    )


def all_charts(apps: Iterable[OrderedApp]) -> Iterator[Chart]:
    """Return every chart that is installed as its own release."""
    for placed in apps:
        objects = {
            str(content.get("kind")): content
            for sheet in placed.app.sheets
            for content in sheet.objects
        }
        release = objects.get("HelmRelease")
        if release is not None:
            yield _chart(placed, release, objects)


def _chart(placed: OrderedApp, release: Object, objects: Mapping[str, Object]) -> Chart:
    if "OCIRepository" in objects:
        spec = _part_of_sheet(objects["OCIRepository"], "spec")
        source, name, version = str(spec["url"]), "", str(_part_of_sheet(spec, "ref")["tag"])
    else:
        chart_spec = _part_of_sheet(
            _part_of_sheet(_part_of_sheet(release, "spec"), "chart"), "spec"
        )
        source = str(_part_of_sheet(objects["HelmRepository"], "spec")["url"])
        name, version = str(chart_spec["chart"]), str(chart_spec["version"])
    return Chart(
        component=placed.owner,
        release=placed.folder,
        namespace=placed.app.namespace,
        source=source,
        name=name,
        version=version,
        folder=placed.app.folder,
        has_definitions=_has_crds(release),
        is_waited_for=_has_dependents(release),
    )


def _has_crds(release: Object) -> bool:
    values = _part_of_sheet(release, "spec").get("values")
    wished = values.get("crds") if isinstance(values, dict) else None
    return not isinstance(wished, dict) or wished.get("enabled") is not False


def _has_dependents(release: Object) -> bool:
    install = _part_of_sheet(release, "spec").get("install")
    return not isinstance(install, dict) or install.get("disableWait") is not True


def _order_names(selection: Iterable[SelectedComponent]) -> Iterator[str]:
    """Return names by phase; within a phase dependencies come first."""
    left = sorted(selection, key=lambda item: (item.component.phase.rank, item.component.name))
    while left:
        waiting = {item.component.name for item in left}
        free = next(item for item in left if not waiting & set(item.context.facts.requires))
        yield free.component.name
        left.remove(free)


def _part_of_sheet(mapping: Object, key: str) -> Object:
    value = mapping[key]
    if not isinstance(value, dict):
        raise TypeError(f"{key} is a mapping")
    return value


DIRECTORY = "bootstrap"
_NAMESPACE = "flux-system"
_DEPLOY_KEYS: dict[Dialect, str] = {"classic": "github-deploy-key", "toml": "deploy-key"}


def bootstrap_secrets(
    cluster: Cluster, materials: InputFiles, dialect: Dialect, problems: Problems
) -> Iterator[RenderedFile]:
    """Return the Secrets with the age identity and the deploy key."""
    yield _secret("sops-age", {"age.agekey": materials.age_identity})
    repository = cluster.repository
    if not repository.private:
        return
    key = materials.deploy_key
    if key is None and materials.age_recipient:
        problems.error(
            "repository.deploy-key-missing",
            "the repository is private, but there is no deploy key",
            why=f"{repository.url} uses SSH, and there is no key to log in with",
            fix="run `stockman init` to create the missing files, or copy your own key there",
            at=repository.where("url"),
        )
        return
    # Without an identity nothing is encrypted; only the file name is needed.
    texts: Mapping[str, Secret | str] = {
        "identity": key or Secret(""),
        "known_hosts": known_hosts(repository.url, repository.known_hosts),
    }
    yield _secret(_DEPLOY_KEYS[dialect], texts)


def _secret(name: str, texts: Mapping[str, Secret | str]) -> RenderedFile:
    content: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "stringData": dict(texts),
    }
    file = f"{name}.sops.yaml"
    sheet = Sheet(name=file, objects=(content,))
    return render_sheet(f"{DIRECTORY}/{file}", REPOSITORY, sheet)


def known_hosts(url: str, configured: str | None) -> str:
    """Return the SSH host keys for a repository: built-in ones, then those of the configuration."""
    server = git_host(url)
    lines = [line for line in host_keys() if line.split(" ", 1)[0] == server]
    lines += [line.strip() for line in (configured or "").splitlines() if line.strip()]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


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
            _APPS_COMMENT, _WAITING, _chain_releases(_Releases(apps, toml=toml))
        ),
        "templates/values.yaml.gotmpl": _VALUES,
    }
    if definitions:  # helmfile fails on a file without releases
        kinds = _Releases(definitions, toml=toml)
        texts[f"{crds_file}.yaml"] = _text(_CRDS_COMMENT, _CRDS_ONLY, kinds)
    if toml:
        texts["default.yaml"] = _default()
        texts["templates/release.yaml.gotmpl"] = _SOURCE
    for name, text in texts.items():
        yield RenderedFile(path=f"{folder}/{name}", owner=REPOSITORY, text=text)


class _Releases:
    """Releases with their sources and namespaces."""

    def __init__(self, charts: Iterable[Chart], *, toml: bool) -> None:
        self.toml = toml
        self.repositories: dict[str, str] = {}
        self.releases: list[dict[str, object]] = []
        self.unawaited: set[str] = set()
        for chart in charts:
            self._add(chart)

    def _add(self, chart: Chart) -> None:
        release: dict[str, object] = {"name": chart.release, "namespace": chart.namespace}
        if chart.is_oci and self.toml:
            release["inherit"] = [{"template": "default"}]
        else:
            name = chart.source
            if not chart.is_oci:
                self.repositories[chart.release] = chart.source
                name = f"{chart.release}/{chart.name}"
            release |= {"chart": name, "version": chart.version, "values": [_VALUES_FILE]}
        self.releases.append(release)
        if not chart.is_waited_for:
            self.unawaited.add(chart.release)


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
