"""What a chart becomes: objects with a release's name, namespace and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stockman_lab.kube.helm import app_template, short_forms
from stockman_lab.kube.helm.chart import Chart
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.helm.filling import Scope, filled
from stockman_lab.kube.helm.short_forms import Made
from stockman_lab.kube.helm.values import merged
from stockman_lab.kube.objects import Object, metadata_of

_LONGEST = 63
_INSTALL_ORDER = (
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicaSet",
    "Deployment",
    "StatefulSet",
    "Job",
    "CronJob",
    "Ingress",
    "APIService",
)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Objects of a chart."""

    objects: list[Object]
    """In the order in which they are made."""
    definitions: list[Object] = field(default_factory=list)
    """Of its `crds` folder, which are no part of a release."""


class CannotRender(Exception):
    """Why values do not fit a chart."""


def render(chart: Chart, release: str, namespace: str, values: Object) -> Rendered:
    """All objects of a release; raises `CannotRender`."""
    told = chart.told
    content = merged(told.get("values") or {}, values)
    _check(chart, content)
    names = _names(chart, release, namespace, content)
    scope = Scope(names, content)
    made = Made(scope, _labels(chart, names), _selector(chart, names, scope))
    objects = [*short_forms.objects(filled(told.get("objects") or [], scope), made)]
    if told.get("made-by") == "app-template":
        objects += app_template.objects(made)
    aside: list[Object] = []
    for one in filled(told.get("definitions") or [], scope):
        found = definitions(one["of"])
        if one.get("crds"):
            aside += found
        else:
            objects += [short_forms.labelled(each, made.labels) for each in found]
    for one in objects:
        short_forms.place(one, namespace)
    return Rendered(sorted(objects, key=_place), aside)


def _place(content: Object) -> tuple[int, str, str]:
    kind = str(content["kind"])
    order = _INSTALL_ORDER.index(kind) if kind in _INSTALL_ORDER else len(_INSTALL_ORDER)
    return order, kind, str(metadata_of(content)["name"])


def _check(chart: Chart, values: Object) -> None:
    missing = [
        item
        for item in _value_paths(chart)
        if Scope({}, values).looked_up(f".{item}", None) is None
    ]
    for item in missing:
        raise CannotRender(
            f"execution error at ({chart.name}/templates/): {item} is required by this chart"
        )


def _value_paths(chart: Chart) -> Iterator[str]:
    yield from chart.told.get("needs") or ()


def _names(chart: Chart, release: str, namespace: str, values: Object) -> dict[str, str]:
    name = str(values.get("nameOverride") or chart.told.get("called") or chart.name)
    full = _full_name(chart, release, name, values)
    accounts = values.get("serviceAccount")
    has_account = not isinstance(accounts, dict) or accounts.get("create") is not False
    return {
        "release": release,
        "namespace": namespace,
        "chart": chart.name,
        "version": chart.version,
        "bare": chart.version.removeprefix("v"),
        "app": chart.app_version,
        "appname": name,
        "name": full,
        "account": full if has_account else "default",
    }


def _full_name(chart: Chart, release: str, name: str, values: Object) -> str:
    way = str(chart.told.get("fullname", "usual"))
    fullname_override = values.get("fullnameOverride")
    if isinstance(fullname_override, str) and fullname_override:
        result = fullname_override
    elif way == "release":
        result = release
    elif way == "joined":
        result = f"{release}-{name}"
    elif way == "usual":
        result = release if name in release else f"{release}-{name}"
    else:
        result = way
    return result[:_LONGEST].rstrip("-")


def _labels(chart: Chart, names: dict[str, str]) -> Object:
    labels: Object = {
        "helm.sh/chart": f"{chart.name}-{chart.version}".replace("+", "_")[:_LONGEST],
        "app.kubernetes.io/name": names["appname"],
        "app.kubernetes.io/instance": names["release"],
        "app.kubernetes.io/managed-by": "Helm",
    }
    if chart.app_version:
        labels["app.kubernetes.io/version"] = chart.app_version
    if chart.told.get("labels") == "none":
        labels = {"app.kubernetes.io/managed-by": "Helm"}
    return labels


def _selector(chart: Chart, names: dict[str, str], scope: Scope) -> Object:
    match = chart.told.get("match")
    if match:
        selector: Object = filled(match, scope)
        return selector
    return {
        "app.kubernetes.io/name": names["appname"],
        "app.kubernetes.io/instance": names["release"],
    }
