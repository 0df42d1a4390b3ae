"""Desired Kubernetes objects that must exist before Flux runs, taken from the rendered files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext, Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.proxy import proxy_variables
from stockman.catalog.selection import SelectedComponent
from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import strip_comments
from stockman.crypto.sops.paths import format_path
from stockman.model.desired import Cluster
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredChart, DesiredKubernetes, DesiredSecret
from stockman.ports.repository import RemoteBranch
from stockman.rendering.applications import OrderedApp
from stockman.rendering.bootstrap import (
    DIRECTORY,
    Chart,
    all_charts,
    charts_before_flux,
    known_hosts,
)
from stockman.rendering.repository import RenderedRepository
from stockman.steps.kubernetes.chart import ChartInstall
from stockman.steps.kubernetes.crds import InstallCrds, available_crd_versions
from stockman.steps.kubernetes.readiness import ObjectCondition
from stockman.steps.kubernetes.resources import (
    ApplyConfigMap,
    ApplyNamespace,
    ApplySecret,
    SecretEntry,
    secret_text_digest,
)
from stockman.steps.kubernetes.smoke_test import RunSmokeTest
from stockman.steps.secret_ref import SecretRef

_FLUX = "flux-instance"
_GATEWAY = "gateway-api"
_KEY_FILES = ("github-deploy.key", "deploy.key")
"""Files of the deploy key in both dialects."""
_IMAGE_PULL_SECONDS = 300.0
"""Minimum timeout of a smoke test, because its image must be pulled first."""


def desired_kubernetes(cluster: Cluster, rendered: RenderedRepository) -> DesiredKubernetes:
    """Return charts, Secrets and definitions that are installed before Flux, in their order.

    Empty without Flux: another tool installs the components then.
    """
    by_name = {selected.component.name: selected for selected in rendered.selection}
    if _FLUX not in by_name:
        return DesiredKubernetes(
            branch=cluster.repository.branch,
            namespaces=(),
            definitions=(),
            secrets=(),
            charts=(),
            followed=(),
        )
    early = _charts_before_flux(rendered)
    charts_ = tuple(_chart(selected, by_name, rendered.apps) for selected in early)
    follows = by_name[_FLUX].component.smoke_test_in(by_name[_FLUX].context)
    ours = {chart.component for chart in charts_}
    return DesiredKubernetes(
        branch=cluster.repository.branch,
        namespaces=tuple(
            _namespaces(rendered, {selected.install.namespace for selected in charts_})
        ),
        definitions=tuple(_definitions(by_name)),
        secrets=tuple(_bootstrap_secrets(rendered)),
        charts=charts_,
        followed=_conditions(follows.until if follows is not None else ()),
        remote=_remote(cluster),
        pending=tuple(_pending_apps(rendered)),
        others={
            name: _conditions(selected.component.conditions(selected.context))
            for name, selected in by_name.items()
            if name not in ours
        },
        smoke_tests=tuple(_smoke_tests(rendered)),
    )


def _remote(cluster: Cluster) -> RemoteBranch:
    repository = cluster.repository
    return RemoteBranch(
        url=repository.url,
        branch=repository.branch,
        key_files=_KEY_FILES if repository.private else (),
        known_hosts=known_hosts(repository.url, repository.known_hosts),
    )


def _charts_before_flux(rendered: RenderedRepository) -> tuple[Chart, ...]:
    """Return charts with definitions first: later charts may contain objects of their kinds."""
    phases = {selected.component.name: selected.component.phase for selected in rendered.selection}
    defining = tuple(
        selected
        for selected in all_charts(rendered.apps)
        if selected.is_main and phases.get(selected.component) is Phase.DEFINITIONS
    )
    return (*defining, *charts_before_flux(rendered.selection, rendered.apps))


def _chart(
    chart: Chart, by_name: Mapping[str, SelectedComponent], apps: Iterable[OrderedApp]
) -> DesiredChart:
    selected = by_name[chart.component]
    placed = next(
        app for app in apps if app.owner == chart.component and app.app.folder == chart.folder
    )
    values = _values(placed)
    return DesiredChart(
        component=chart.component,
        install=ChartInstall(
            release=_release(placed),
            namespace=chart.namespace,
            source=chart.source,
            chart=chart.name,
            version=chart.version,
            values=json.dumps(values, sort_keys=True, separators=(",", ":")),
            waits=chart.is_waited_for,
            environment=proxy_variables(selected.context.desired),
        ),
        conditions=_conditions(selected.component.conditions(selected.context)),
        secrets=tuple(_secrets(placed)) if chart.component != _FLUX else (),
        config_maps=tuple(_config_maps(placed)),
    )


def _objects(placed: OrderedApp, kind: str) -> Iterator[tuple[str, Object]]:
    """Yield objects of a kind, each with the file that contains it."""
    for sheet in placed.app.sheets:
        for content in sheet.objects:
            if content.get("kind") == kind:
                yield f"{placed.directory}/{sheet.name}", content


def _spec(placed: OrderedApp) -> Object:
    release = next(content for _, content in _objects(placed, "HelmRelease"))
    spec = release["spec"]
    return spec if isinstance(spec, dict) else {}


def _values(placed: OrderedApp) -> object:
    return strip_comments(_spec(placed).get("values", {}))


def _release(placed: OrderedApp) -> str:
    """Return the name of the chart's HelmRelease."""
    release = next(content for _, content in _objects(placed, "HelmRelease"))
    name = _spec(placed).get("releaseName") or _metadata(release).get("name")
    return str(name)


def _metadata(content: Object) -> Mapping[str, object]:
    metadata = content.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _secrets(placed: OrderedApp) -> Iterator[DesiredSecret]:
    for file, content in _objects(placed, "Secret"):
        yield _secret(file, content, placed.app.namespace)


def _secret(file: str, content: Object, namespace: str) -> DesiredSecret:
    texts = content.get("stringData")
    fields = texts if isinstance(texts, dict) else {}
    entries = tuple(
        SecretEntry(
            key=str(key), value=SecretRef(place=f"sops:{file}#{format_path(('stringData', key))}")
        )
        for key in fields
    )
    metadata = _metadata(content)
    action = ApplySecret(
        namespace=str(metadata.get("namespace") or namespace),
        name=str(metadata.get("name")),
        entries=entries,
        type=str(content.get("type", "")),
    )
    return DesiredSecret(action=action, digests={str(k): _digest(v) for k, v in fields.items()})


def _digest(value: object) -> str:
    return secret_text_digest(value.reveal() if isinstance(value, Secret) else str(value))


def _config_maps(placed: OrderedApp) -> Iterator[ApplyConfigMap]:
    for _, content in _objects(placed, "ConfigMap"):
        data = content.get("data")
        texts = (
            {str(key): str(value) for key, value in data.items()} if isinstance(data, dict) else {}
        )
        yield ApplyConfigMap(
            namespace=placed.app.namespace, name=str(_metadata(content).get("name")), data=texts
        )


def _bootstrap_secrets(rendered: RenderedRepository) -> Iterator[DesiredSecret]:
    """Return the Secrets in `bootstrap/`: the age identity and the key of the repository."""
    for file in rendered.tree:
        if file.path.startswith(f"{DIRECTORY}/") and isinstance(file.text, Secret):
            content = to_plain_data(read_yaml(file.path, file.text.reveal()))
            if isinstance(content, dict):
                yield _secret(file.path, content, "flux-system")


def _namespaces(rendered: RenderedRepository, names: set[str]) -> Iterator[ApplyNamespace]:
    for name in sorted({*names, "flux-system"}):
        file = rendered.tree.get(f"kubernetes/apps/{name}/namespace.yaml")
        content = next(iter(file.documents or ()), None) if file is not None else None
        metadata = _metadata(content) if isinstance(content, dict) else {}
        yield ApplyNamespace(
            name=name,
            labels=_texts(metadata.get("labels")),
            annotations=_texts(metadata.get("annotations")),
        )


def _texts(value: object) -> dict[str, str]:
    texts = strip_comments(value)
    return {str(key): str(text) for key, text in texts.items()} if isinstance(texts, dict) else {}


def _definitions(by_name: Mapping[str, SelectedComponent]) -> Iterator[InstallCrds]:
    """Return the bundled definitions; Flux fetches any other version itself."""
    selected = by_name.get(_GATEWAY)
    if selected is None:
        return
    configured = selected.context.options.version
    version = f"v{configured}" if configured is not None else selected.context.facts.app_version
    if version in available_crd_versions(_GATEWAY):
        yield InstallCrds(bundle=_GATEWAY, version=version)


def _pending_apps(rendered: RenderedRepository) -> Iterator[str]:
    early = {
        selected.component.name
        for selected in rendered.selection
        if selected.component.phase.before_flux
    }
    for placed in rendered.apps:
        if placed.owner in early and placed.app.pending:
            yield f"{placed.app.name} waits for {placed.app.pending}"


def _conditions(conditions: Iterable[Condition]) -> tuple[ObjectCondition, ...]:
    parsed = []
    for condition in conditions:
        api_version, _, kind = condition.kind.partition(" ")
        parsed.append(
            ObjectCondition(
                api_version=api_version,
                kind=kind,
                name=condition.name,
                expr=condition.expr,
                says=condition.says,
                namespace=condition.namespace,
            )
        )
    return tuple(parsed)


def _smoke_tests(rendered: RenderedRepository) -> Iterator[RunSmokeTest]:
    """Yield the smoke tests of all components, except of those whose apps are suspended."""
    pending = {placed.owner for placed in rendered.apps if placed.app.pending}
    for selected in sorted(rendered.selection, key=lambda item: item.component.phase.rank):
        test = selected.component.smoke_test_in(selected.context)
        if test is not None and selected.component.name not in pending:
            yield _smoke_test(selected.context, test)


def _smoke_test(context: ComponentContext, test: SmokeTest) -> RunSmokeTest:
    return RunSmokeTest(
        component=context.facts.name,
        version=context.tag or context.facts.app_version,
        says=test.says,
        objects=test.objects,
        cron_job=test.starts,
        created=test.created,
        until=_conditions(test.until),
        gone=_conditions(test.gone),
        seconds=max(float(test.seconds), _IMAGE_PULL_SECONDS),
    )
