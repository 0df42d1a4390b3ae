"""Objects that stockman puts into a cluster: namespaces, Secrets, ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from stockman.app.drift.field_authors import Path, field_author, is_of_controllers
from stockman.app.drift.finding import Author, Correction, Drift, DriftSeverity, Value
from stockman.app.drift.layer import Layer
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.planning.kube_wish import KubernetesWish, SecretWish
from stockman.ports.kubernetes.kinds import CONFIG_MAPS, NAMESPACES, Ref
from stockman.ports.kubernetes.objects import Object
from stockman.steps.kube_config_map import ApplyConfigMap
from stockman.steps.kube_namespace import MakeNamespace
from stockman.steps.kube_reading import FLUX_OWNER, is_of_flux, part, text
from stockman.steps.kube_secret import digests_of

_NOT_THERE = Author(how="nobody tells who deleted an object")
_NAMESPACE_OF_OWNER = "kustomize.toolkit.fluxcd.io/namespace"


@record
class ObjectsSide:
    """Objects that should be, and those that are there."""

    wish: KubernetesWish
    there: Mapping[Ref, Object] = field(metadata={"shown": False})
    """Those that were found, of those that were asked for."""


def refs(wish: KubernetesWish) -> tuple[Ref, ...]:
    """Everything that has to be read."""
    found = [Ref(kind=NAMESPACES, name=one.name) for one in wish.namespaces]
    found += [one.action.ref for one in _secrets(wish)]
    found += [_map_ref(one) for one in _maps(wish)]
    return tuple(dict.fromkeys(found))


def object_drifts(side: ObjectsSide) -> Iterator[Drift]:
    """Objects that are gone or hold something else; values of Secrets are never shown."""
    for namespace in side.wish.namespaces:
        yield from _namespace(side, namespace)
    for secret in _secrets(side.wish):
        yield from _secret(side, secret)
    for config_map in _maps(side.wish):
        yield from _config_map(side, config_map)


def _secrets(wish: KubernetesWish) -> tuple[SecretWish, ...]:
    return (*wish.secrets, *(one for chart in wish.charts for one in chart.secrets))


def _maps(wish: KubernetesWish) -> tuple[ApplyConfigMap, ...]:
    return tuple(one for chart in wish.charts for one in chart.config_maps)


def _map_ref(one: ApplyConfigMap) -> Ref:
    return Ref(kind=CONFIG_MAPS, name=one.name, namespace=one.namespace)


def _namespace(side: ObjectsSide, wanted: MakeNamespace) -> Iterator[Drift]:
    ref = Ref(kind=NAMESPACES, name=wanted.name)
    found = side.there.get(ref)
    claim = f"kubernetes/namespace/{wanted.name}"
    if found is None:
        yield _missing(ref, claim)
        return
    paths: list[Path] = []
    values = []
    for place, texts in (("labels", wanted.labels), ("annotations", wanted.annotations)):
        has = part(found, "metadata", place)
        for name, value in texts.items():
            path = ("metadata", place, name)
            if has.get(name) != value and not is_of_controllers(found, path):
                paths.append(path)
                told = has.get(name)
                shown = None if told is None else str(told)
                values.append(Value(key=f"{place}.{name}", found=shown, wanted=value))
    if values:
        yield _changed(ref, found, values, paths, claim)


def _secret(side: ObjectsSide, wanted: SecretWish) -> Iterator[Drift]:
    ref = wanted.action.ref
    found = side.there.get(ref)
    claim = f"kubernetes/secret/{ref.namespace}/{ref.name}"
    if found is None:
        yield _missing(ref, claim)
        return
    has = digests_of(found)
    keys = [
        key
        for key, digest in wanted.digests.items()
        if has.get(key) != digest and not is_of_controllers(found, ("data", key))
    ]
    if keys:
        values = [
            Value(key=f"data.{key}", found=MASK if key in has else None, wanted=MASK)
            for key in keys
        ]
        yield _changed(ref, found, values, [("data", key) for key in keys], claim)


def _config_map(side: ObjectsSide, wanted: ApplyConfigMap) -> Iterator[Drift]:
    ref = _map_ref(wanted)
    found = side.there.get(ref)
    claim = f"kubernetes/config-map/{ref.namespace}/{ref.name}"
    if found is None:
        yield _missing(ref, claim)
        return
    has = part(found, "data")
    keys = [
        key
        for key, value in wanted.data.items()
        if has.get(key) != value and not is_of_controllers(found, ("data", key))
    ]
    if keys:
        values = [
            Value(
                key=f"data.{key}",
                found=str(has[key]) if key in has else None,
                wanted=wanted.data[key],
            )
            for key in keys
        ]
        yield _changed(ref, found, values, [("data", key) for key in keys], claim)


def _missing(ref: Ref, claim: str) -> Drift:
    return Drift(
        layer=Layer.KUBERNETES,
        subject=subject_of(ref),
        what=f"{subject_of(ref)} is not there",
        author=_NOT_THERE,
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command="stockman apply --only kubernetes"),
        claims=(claim,),
    )


def _changed(
    ref: Ref, found: Object, values: list[Value], paths: Iterable[Path], claim: str
) -> Drift:
    author = field_author(found, paths)
    command = _put_back(ref, found, values)
    return Drift(
        layer=Layer.KUBERNETES,
        subject=subject_of(ref),
        what=f"{subject_of(ref)} differs",
        values=tuple(values),
        author=author,
        severity=DriftSeverity.CRITICAL if ref.kind.name == "Secret" else DriftSeverity.WARNING,
        correction=Correction(command=command),
        claims=(claim,),
        # Fields that somebody else took over are not taken back, so it is made anew.
        by_hand=author.is_known or is_of_flux(found),
    )


def _put_back(ref: Ref, found: Object, values: Iterable[Value]) -> str:
    if is_of_flux(found):
        labels = part(found, "metadata", "labels")
        return reconcile_command(
            "kustomization", text(labels, _NAMESPACE_OF_OWNER), text(labels, FLUX_OWNER)
        )
    if ref.kind is NAMESPACES:
        return " && ".join(_noted(ref.name, one) for one in values)
    place = f"-n {ref.namespace} " if ref.namespace else ""
    kind = ref.kind.name.lower()
    return f"kubectl {place}delete {kind} {ref.name} && stockman apply --only kubernetes"


def _noted(namespace: str, value: Value) -> str:
    place, _, name = value.key.partition(".")
    verb = "label" if place == "labels" else "annotate"
    return f"kubectl {verb} namespace {namespace} --overwrite {name}={value.wanted}"


def reconcile_command(kind: str, namespace: str, name: str) -> str:
    """Has Flux put an object back at once, and not only at its next turn."""
    return (
        f"kubectl -n {namespace} annotate {kind} {name} --overwrite"
        ' reconcile.fluxcd.io/requestedAt="$(date +%s)"'
    )


def subject_of(ref: Ref) -> str:
    """`Secret flux-system/sops-age`."""
    place = f"{ref.namespace}/" if ref.namespace else ""
    return f"{ref.kind.name} {place}{ref.name}"
