"""Who wrote a field of an object, as its `managedFields` tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime

from stockman.assessment.drift.report import (
    Author,
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Layer,
)
from stockman.kubernetes.objects import CONFIG_MAPS, NAMESPACES, Object, ObjectRef
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.planning.kubernetes.desired import DesiredKubernetes, DesiredSecret
from stockman.steps.kubernetes.objects import (
    FLUX_OWNER,
    MANAGER,
    is_managed_by_flux,
    mapping_at,
    mappings_at,
    text_at,
)
from stockman.steps.kubernetes.resources import ApplyConfigMap, ApplyNamespace, secret_digests

CONTROLLERS = frozenset(
    {
        *(MANAGER, "Helm", "flux-operator", "helm-controller", "kustomize-controller"),
        *("gotk-helm-controller", "gotk-kustomize-controller", "gotk-source-controller"),
    }
)
"""Those who write what the files say."""
FieldPath = tuple[str, ...]
_NO_FIELD_MANAGER = "no manager of its fields but those of stockman and Flux"


def field_author(content: Object, paths: Iterable[FieldPath]) -> Author:
    """The newest manager of one of these fields who is neither stockman nor Flux."""
    wanted = tuple(paths)
    found = [one for one in _writers(content) if any(_owns(one, path) for path in wanted)]
    if not found:
        return Author(how=_NO_FIELD_MANAGER)
    newest = max(found, key=lambda one: text_at(one, "time"))
    name = text_at(newest, "manager")
    return Author(
        who=name,
        when=_moment(text_at(newest, "time")),
        how=f"manager {name} of the fields, by {text_at(newest, 'operation') or 'Update'}",
    )


def is_field_managed_by_flux(content: Object, path: FieldPath) -> bool:
    """Whether Flux or Helm alone own a field: what they made of it is their affair."""
    owners = {
        text_at(one, "manager")
        for one in mappings_at(content, "metadata", "managedFields")
        if _owns(one, path)
    }
    return bool(owners) and owners <= CONTROLLERS - {MANAGER}


def _writers(content: Object) -> Iterator[Mapping[str, object]]:
    for one in mappings_at(content, "metadata", "managedFields"):
        is_status = text_at(one, "subresource") == "status"
        if not is_status and text_at(one, "manager") not in CONTROLLERS:
            yield one


def _owns(entry: Mapping[str, object], path: FieldPath) -> bool:
    """Whether a path, or the whole of which it is a part, is among the fields of a manager."""
    fields = mapping_at(entry, "fieldsV1")
    for name in path:
        if f"f:{name}" not in fields:
            return False
        fields = mapping_at(fields, f"f:{name}")
        if not fields:
            return True
    return True


def _moment(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None


_DELETED_BY_UNKNOWN = Author(how="nobody tells who deleted an object")
_NAMESPACE_OF_OWNER = "kustomize.toolkit.fluxcd.io/namespace"


@record
class ObjectsSide:
    """Objects that should be, and those that are there."""

    wish: DesiredKubernetes
    there: Mapping[ObjectRef, Object] = field(metadata={"shown": False})
    """Those that were found, of those that were asked for."""


def object_refs(wish: DesiredKubernetes) -> tuple[ObjectRef, ...]:
    """Everything that has to be read."""
    found = [ObjectRef(kind=NAMESPACES, name=one.name) for one in wish.namespaces]
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


def _secrets(wish: DesiredKubernetes) -> tuple[DesiredSecret, ...]:
    return (*wish.secrets, *(one for chart in wish.charts for one in chart.secrets))


def _maps(wish: DesiredKubernetes) -> tuple[ApplyConfigMap, ...]:
    return tuple(one for chart in wish.charts for one in chart.config_maps)


def _map_ref(one: ApplyConfigMap) -> ObjectRef:
    return ObjectRef(kind=CONFIG_MAPS, name=one.name, namespace=one.namespace)


def _namespace(side: ObjectsSide, wanted: ApplyNamespace) -> Iterator[Drift]:
    ref = ObjectRef(kind=NAMESPACES, name=wanted.name)
    found = side.there.get(ref)
    claim = f"kubernetes/namespace/{wanted.name}"
    if found is None:
        yield _missing_object(ref, claim)
        return
    paths: list[FieldPath] = []
    values = []
    for place, texts in (("labels", wanted.labels), ("annotations", wanted.annotations)):
        has = mapping_at(found, "metadata", place)
        for name, value in texts.items():
            path = ("metadata", place, name)
            if has.get(name) != value and not is_field_managed_by_flux(found, path):
                paths.append(path)
                told = has.get(name)
                shown = None if told is None else str(told)
                values.append(DriftValue(key=f"{place}.{name}", found=shown, wanted=value))
    if values:
        yield _changed_object(ref, found, values, paths, claim)


def _secret(side: ObjectsSide, wanted: DesiredSecret) -> Iterator[Drift]:
    ref = wanted.action.ref
    found = side.there.get(ref)
    claim = f"kubernetes/secret/{ref.namespace}/{ref.name}"
    if found is None:
        yield _missing_object(ref, claim)
        return
    has = secret_digests(found)
    keys = [
        key
        for key, digest in wanted.digests.items()
        if has.get(key) != digest and not is_field_managed_by_flux(found, ("data", key))
    ]
    if keys:
        values = [
            DriftValue(key=f"data.{key}", found=MASK if key in has else None, wanted=MASK)
            for key in keys
        ]
        yield _changed_object(ref, found, values, [("data", key) for key in keys], claim)


def _config_map(side: ObjectsSide, wanted: ApplyConfigMap) -> Iterator[Drift]:
    ref = _map_ref(wanted)
    found = side.there.get(ref)
    claim = f"kubernetes/config-map/{ref.namespace}/{ref.name}"
    if found is None:
        yield _missing_object(ref, claim)
        return
    has = mapping_at(found, "data")
    keys = [
        key
        for key, value in wanted.data.items()
        if has.get(key) != value and not is_field_managed_by_flux(found, ("data", key))
    ]
    if keys:
        values = [
            DriftValue(
                key=f"data.{key}",
                found=str(has[key]) if key in has else None,
                wanted=wanted.data[key],
            )
            for key in keys
        ]
        yield _changed_object(ref, found, values, [("data", key) for key in keys], claim)


def _missing_object(ref: ObjectRef, claim: str) -> Drift:
    return Drift(
        layer=Layer.KUBERNETES,
        subject=subject_of(ref),
        what=f"{subject_of(ref)} is not there",
        author=_DELETED_BY_UNKNOWN,
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command="stockman apply --only kubernetes"),
        claims=(claim,),
    )


def _changed_object(
    ref: ObjectRef, found: Object, values: list[DriftValue], paths: Iterable[FieldPath], claim: str
) -> Drift:
    author = field_author(found, paths)
    command = _restore_correction(ref, found, values)
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
        by_hand=author.is_known or is_managed_by_flux(found),
    )


def _restore_correction(ref: ObjectRef, found: Object, values: Iterable[DriftValue]) -> str:
    if is_managed_by_flux(found):
        labels = mapping_at(found, "metadata", "labels")
        return reconcile_command(
            "kustomization", text_at(labels, _NAMESPACE_OF_OWNER), text_at(labels, FLUX_OWNER)
        )
    if ref.kind is NAMESPACES:
        return " && ".join(_namespace_value(ref.name, one) for one in values)
    place = f"-n {ref.namespace} " if ref.namespace else ""
    kind = ref.kind.name.lower()
    return f"kubectl {place}delete {kind} {ref.name} && stockman apply --only kubernetes"


def _namespace_value(namespace: str, value: DriftValue) -> str:
    place, _, name = value.key.partition(".")
    verb = "label" if place == "labels" else "annotate"
    return f"kubectl {verb} namespace {namespace} --overwrite {name}={value.wanted}"


def reconcile_command(kind: str, namespace: str, name: str) -> str:
    """Has Flux put an object back at once, and not only at its next turn."""
    return (
        f"kubectl -n {namespace} annotate {kind} {name} --overwrite"
        ' reconcile.fluxcd.io/requestedAt="$(date +%s)"'
    )


def subject_of(ref: ObjectRef) -> str:
    """`Secret flux-system/sops-age`."""
    place = f"{ref.namespace}/" if ref.namespace else ""
    return f"{ref.kind.name} {place}{ref.name}"
