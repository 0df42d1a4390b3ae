"""What a cluster needs before Flux runs, taken from what was rendered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from stockman.catalog.app import Object
from stockman.catalog.component import Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.selection import SelectedComponent
from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.commented import strip_comments
from stockman.crypto.sops.paths import format_path
from stockman.model.desired import Cluster
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredChart, DesiredKubernetes, DesiredSecret
from stockman.rendering.app_order import OrderedApp
from stockman.rendering.bootstrap.charts import Chart, all_charts, charts_before_flux
from stockman.rendering.bootstrap.secrets import DIRECTORY
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
_IMAGE_PULL_SECONDS = 300.0
"""Seconds that a trial has at least: its image has to come first."""


def desired_kubernetes(cluster: Cluster, rendered: RenderedRepository) -> DesiredKubernetes:
    """Charts, Secrets and definitions that come before Flux, in their order.

    Nothing without Flux: somebody else brings what such a cluster has.
    """
    by_name = {one.component.name: one for one in rendered.selection}
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
    wanted = tuple(_chart(one, by_name, rendered.apps) for one in early)
    follows = by_name[_FLUX].component.trial_in(by_name[_FLUX].scene)
    ours = {one.component for one in wanted}
    return DesiredKubernetes(
        branch=cluster.repository.branch,
        namespaces=tuple(_namespaces(rendered, {one.install.namespace for one in wanted})),
        definitions=tuple(_definitions(by_name)),
        secrets=tuple(_bootstrap_secrets(rendered)),
        charts=wanted,
        followed=_conditions(follows.until if follows is not None else ()),
        pending=tuple(_pending_tests(rendered)),
        others={
            name: _conditions(one.component.conditions(one.scene))
            for name, one in by_name.items()
            if name not in ours
        },
    )


def _charts_before_flux(rendered: RenderedRepository) -> tuple[Chart, ...]:
    """Charts of definitions first: what comes before Flux may hold objects of their kinds."""
    phases = {one.component.name: one.component.phase for one in rendered.selection}
    defining = tuple(
        one
        for one in all_charts(rendered.apps)
        if one.is_main and phases.get(one.component) is Phase.DEFINITIONS
    )
    return (*defining, *charts_before_flux(rendered.selection, rendered.apps))


def _chart(
    chart: Chart, by_name: Mapping[str, SelectedComponent], apps: Iterable[OrderedApp]
) -> DesiredChart:
    one = by_name[chart.component]
    placed = next(
        app for app in apps if app.owner == chart.component and app.app.folder == chart.folder
    )
    values = _values(placed)
    trial = one.component.trial_in(one.scene)
    return DesiredChart(
        component=chart.component,
        install=ChartInstall(
            release=_release(placed),
            namespace=chart.namespace,
            source=chart.source,
            chart=chart.name,
            version=chart.version,
            values=json.dumps(values, sort_keys=True, separators=(",", ":")),
        ),
        conditions=_conditions(one.component.conditions(one.scene)),
        secrets=tuple(_secrets(placed)) if chart.component != _FLUX else (),
        config_maps=tuple(_config_maps(placed)),
        trial=_smoke_test(chart, trial)
        if trial is not None and _is_tested_early(one, trial)
        else None,
    )


def _objects(placed: OrderedApp, kind: str) -> Iterator[tuple[str, Object]]:
    """Objects of a kind, with the file that each stands in."""
    for sheet in placed.app.sheets:
        for one in sheet.objects:
            if one.get("kind") == kind:
                yield f"{placed.directory}/{sheet.name}", one


def _spec(placed: OrderedApp) -> Object:
    release = next(one for _, one in _objects(placed, "HelmRelease"))
    spec = release["spec"]
    return spec if isinstance(spec, dict) else {}


def _values(placed: OrderedApp) -> object:
    return strip_comments(_spec(placed).get("values", {}))


def _release(placed: OrderedApp) -> str:
    """The name under which Flux has it."""
    release = next(one for _, one in _objects(placed, "HelmRelease"))
    name = _spec(placed).get("releaseName") or _metadata(release).get("name")
    return str(name)


def _metadata(content: Object) -> Mapping[str, object]:
    found = content.get("metadata")
    return found if isinstance(found, dict) else {}


def _secrets(placed: OrderedApp) -> Iterator[DesiredSecret]:
    for file, one in _objects(placed, "Secret"):
        yield _secret(file, one, placed.app.namespace)


def _secret(file: str, content: Object, namespace: str) -> DesiredSecret:
    texts = content.get("stringData")
    given = texts if isinstance(texts, dict) else {}
    entries = tuple(
        SecretEntry(
            key=str(key), value=SecretRef(place=f"sops:{file}#{format_path(('stringData', key))}")
        )
        for key in given
    )
    metadata = _metadata(content)
    action = ApplySecret(
        namespace=str(metadata.get("namespace") or namespace),
        name=str(metadata.get("name")),
        entries=entries,
        type=str(content.get("type", "")),
    )
    return DesiredSecret(action=action, digests={str(k): _digest(v) for k, v in given.items()})


def _digest(value: object) -> str:
    return secret_text_digest(value.reveal() if isinstance(value, Secret) else str(value))


def _config_maps(placed: OrderedApp) -> Iterator[ApplyConfigMap]:
    for _, one in _objects(placed, "ConfigMap"):
        data = one.get("data")
        texts = (
            {str(key): str(value) for key, value in data.items()} if isinstance(data, dict) else {}
        )
        yield ApplyConfigMap(
            namespace=placed.app.namespace, name=str(_metadata(one).get("name")), data=texts
        )


def _bootstrap_secrets(rendered: RenderedRepository) -> Iterator[DesiredSecret]:
    """Those that lie in `bootstrap/`: the identity, and the key of the repository."""
    for file in rendered.tree:
        if file.path.startswith(f"{DIRECTORY}/") and isinstance(file.text, Secret):
            content = to_plain_data(read_yaml(file.path, file.text.reveal()))
            if isinstance(content, dict):
                yield _secret(file.path, content, "flux-system")


def _namespaces(rendered: RenderedRepository, wanted: set[str]) -> Iterator[ApplyNamespace]:
    for name in sorted({*wanted, "flux-system"}):
        file = rendered.tree.get(f"kubernetes/apps/{name}/namespace.yaml")
        content = next(iter(file.documents or ()), None) if file is not None else None
        metadata = _metadata(content) if isinstance(content, dict) else {}
        yield ApplyNamespace(
            name=name,
            labels=_texts(metadata.get("labels")),
            annotations=_texts(metadata.get("annotations")),
        )


def _texts(value: object) -> dict[str, str]:
    found = strip_comments(value)
    return {str(key): str(text) for key, text in found.items()} if isinstance(found, dict) else {}


def _definitions(by_name: Mapping[str, SelectedComponent]) -> Iterator[InstallCrds]:
    """Those that are at hand; another version is left to Flux, which fetches it."""
    one = by_name.get(_GATEWAY)
    if one is None:
        return
    wish = one.scene.wish.version
    version = f"v{wish}" if wish is not None else one.scene.known.app
    if version in available_crd_versions(_GATEWAY):
        yield InstallCrds(bundle=_GATEWAY, version=version)


def _pending_tests(rendered: RenderedRepository) -> Iterator[str]:
    early = {one.component.name for one in rendered.selection if one.component.phase.before_flux}
    for placed in rendered.apps:
        if placed.owner in early and placed.app.pending:
            yield f"{placed.app.name} waits for {placed.app.pending}"


def _conditions(conditions: Iterable[Condition]) -> tuple[ObjectCondition, ...]:
    found = []
    for one in conditions:
        api_version, _, kind = one.kind.partition(" ")
        found.append(
            ObjectCondition(
                api_version=api_version,
                kind=kind,
                name=one.name,
                expr=one.expr,
                says=one.says,
                namespace=one.namespace,
            )
        )
    return tuple(found)


def _is_tested_early(one: SelectedComponent, trial: SmokeTest) -> bool:
    """Whether it is tried at once: all the rest stands on the network and on names."""
    return bool(trial.objects) and one.component.phase in (Phase.NETWORK, Phase.DNS)


def _smoke_test(chart: Chart, trial: SmokeTest) -> RunSmokeTest:
    return RunSmokeTest(
        component=chart.component,
        version=chart.version,
        says=trial.says,
        objects=trial.objects,
        until=_conditions(trial.until),
        gone=_conditions(trial.gone),
        seconds=max(float(trial.seconds), _IMAGE_PULL_SECONDS),
    )
