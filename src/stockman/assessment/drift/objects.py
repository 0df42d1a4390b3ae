"""Drift of namespaces, Secrets and ConfigMaps that stockman creates, and who wrote their fields."""

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
"""Field managers that apply the configuration."""
FieldPath = tuple[str, ...]
_NO_FIELD_MANAGER = "no manager of its fields but those of stockman and Flux"


def field_author(content: Object, paths: Iterable[FieldPath]) -> Author:
    """Return the newest manager of any of these fields, except stockman and Flux."""
    searched = tuple(paths)
    entries = [entry for entry in _writers(content) if any(_owns(entry, path) for path in searched)]
    if not entries:
        return Author(how=_NO_FIELD_MANAGER)
    newest = max(entries, key=lambda entry: text_at(entry, "time"))
    name = text_at(newest, "manager")
    return Author(
        name=name,
        when=_moment(text_at(newest, "time")),
        how=f"manager {name} of the fields, by {text_at(newest, 'operation') or 'Update'}",
    )


def is_field_managed_by_flux(content: Object, path: FieldPath) -> bool:
    """Whether only Flux or Helm manage a field."""
    owners = {
        text_at(entry, "manager")
        for entry in mappings_at(content, "metadata", "managedFields")
        if _owns(entry, path)
    }
    return bool(owners) and owners <= CONTROLLERS - {MANAGER}


def _writers(content: Object) -> Iterator[Mapping[str, object]]:
    for entry in mappings_at(content, "metadata", "managedFields"):
        is_status = text_at(entry, "subresource") == "status"
        if not is_status and text_at(entry, "manager") not in CONTROLLERS:
            yield entry


def _owns(entry: Mapping[str, object], path: FieldPath) -> bool:
    """Whether a path, or one of its parents, is among the fields of a manager."""
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
    """Desired objects, and those that exist."""

    desired: DesiredKubernetes
    existing: Mapping[ObjectRef, Object] = field(metadata={"shown": False})
    """Existing objects among those that were requested."""


def object_refs(desired_kubernetes: DesiredKubernetes) -> tuple[ObjectRef, ...]:
    """Return references to every object that must be read."""
    object_refs = [
        ObjectRef(kind=NAMESPACES, name=config_map.name)
        for config_map in desired_kubernetes.namespaces
    ]
    object_refs += [config_map.action.ref for config_map in _secrets(desired_kubernetes)]
    object_refs += [_map_ref(config_map) for config_map in _maps(desired_kubernetes)]
    return tuple(dict.fromkeys(object_refs))


def object_drifts(side: ObjectsSide) -> Iterator[Drift]:
    """Return objects that are missing or differ; values of Secrets are never shown."""
    for namespace in side.desired.namespaces:
        yield from _namespace(side, namespace)
    for secret in _secrets(side.desired):
        yield from _secret(side, secret)
    for config_map in _maps(side.desired):
        yield from _config_map(side, config_map)


def _secrets(desired_kubernetes: DesiredKubernetes) -> tuple[DesiredSecret, ...]:
    return (
        *desired_kubernetes.secrets,
        *(secret for chart in desired_kubernetes.charts for secret in chart.secrets),
    )


def _maps(desired_kubernetes: DesiredKubernetes) -> tuple[ApplyConfigMap, ...]:
    return tuple(
        config_map for chart in desired_kubernetes.charts for config_map in chart.config_maps
    )


def _map_ref(apply_config_map: ApplyConfigMap) -> ObjectRef:
    return ObjectRef(
        kind=CONFIG_MAPS, name=apply_config_map.name, namespace=apply_config_map.namespace
    )


def _namespace(side: ObjectsSide, apply_namespace: ApplyNamespace) -> Iterator[Drift]:
    ref = ObjectRef(kind=NAMESPACES, name=apply_namespace.name)
    observed = side.existing.get(ref)
    claim = f"kubernetes/namespace/{apply_namespace.name}"
    if observed is None:
        yield _missing_object(ref, claim)
        return
    paths: list[FieldPath] = []
    values = []
    for section, texts in (
        ("labels", apply_namespace.labels),
        ("annotations", apply_namespace.annotations),
    ):
        has = mapping_at(observed, "metadata", section)
        for name, value in texts.items():
            path = ("metadata", section, name)
            if has.get(name) != value and not is_field_managed_by_flux(observed, path):
                paths.append(path)
                current = has.get(name)
                shown = None if current is None else str(current)
                values.append(DriftValue(key=f"{section}.{name}", observed=shown, desired=value))
    if values:
        yield _object_drift(ref, observed, values, paths, claim)


def _secret(side: ObjectsSide, desired_secret: DesiredSecret) -> Iterator[Drift]:
    ref = desired_secret.action.ref
    observed = side.existing.get(ref)
    claim = f"kubernetes/secret/{ref.namespace}/{ref.name}"
    if observed is None:
        yield _missing_object(ref, claim)
        return
    has = secret_digests(observed)
    keys = [
        key
        for key, digest in desired_secret.digests.items()
        if has.get(key) != digest and not is_field_managed_by_flux(observed, ("data", key))
    ]
    if keys:
        values = [
            DriftValue(key=f"data.{key}", observed=MASK if key in has else None, desired=MASK)
            for key in keys
        ]
        yield _object_drift(ref, observed, values, [("data", key) for key in keys], claim)


def _config_map(side: ObjectsSide, apply_config_map: ApplyConfigMap) -> Iterator[Drift]:
    ref = _map_ref(apply_config_map)
    observed = side.existing.get(ref)
    claim = f"kubernetes/config-map/{ref.namespace}/{ref.name}"
    if observed is None:
        yield _missing_object(ref, claim)
        return
    has = mapping_at(observed, "data")
    keys = [
        key
        for key, value in apply_config_map.data.items()
        if has.get(key) != value and not is_field_managed_by_flux(observed, ("data", key))
    ]
    if keys:
        values = [
            DriftValue(
                key=f"data.{key}",
                observed=str(has[key]) if key in has else None,
                desired=apply_config_map.data[key],
            )
            for key in keys
        ]
        yield _object_drift(ref, observed, values, [("data", key) for key in keys], claim)


def _missing_object(ref: ObjectRef, claim: str) -> Drift:
    return Drift(
        layer=Layer.KUBERNETES,
        subject=subject_of(ref),
        description=f"{subject_of(ref)} is not there",
        author=_DELETED_BY_UNKNOWN,
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command="stockman apply --only kubernetes"),
        claims=(claim,),
    )


def _object_drift(
    ref: ObjectRef,
    observed: Object,
    values: list[DriftValue],
    paths: Iterable[FieldPath],
    claim: str,
) -> Drift:
    author = field_author(observed, paths)
    command = _restore_correction(ref, observed, values)
    return Drift(
        layer=Layer.KUBERNETES,
        subject=subject_of(ref),
        description=f"{subject_of(ref)} differs",
        values=tuple(values),
        author=author,
        severity=DriftSeverity.CRITICAL if ref.kind.name == "Secret" else DriftSeverity.WARNING,
        correction=Correction(command=command),
        claims=(claim,),
        # Fields taken over by another manager cannot be reclaimed, so the object is recreated.
        by_hand=author.is_known or is_managed_by_flux(observed),
    )


def _restore_correction(ref: ObjectRef, observed: Object, values: Iterable[DriftValue]) -> str:
    if is_managed_by_flux(observed):
        labels = mapping_at(observed, "metadata", "labels")
        return reconcile_command(
            "kustomization", text_at(labels, _NAMESPACE_OF_OWNER), text_at(labels, FLUX_OWNER)
        )
    if ref.kind is NAMESPACES:
        return " && ".join(_namespace_value(ref.name, value) for value in values)
    namespace_option = f"-n {ref.namespace} " if ref.namespace else ""
    kind = ref.kind.name.lower()
    return f"kubectl {namespace_option}delete {kind} {ref.name} && stockman apply --only kubernetes"


def _namespace_value(namespace: str, value: DriftValue) -> str:
    section, _, name = value.key.partition(".")
    verb = "label" if section == "labels" else "annotate"
    return f"kubectl {verb} namespace {namespace} --overwrite {name}={value.desired}"


def reconcile_command(kind: str, namespace: str, name: str) -> str:
    """Return the command that makes Flux restore an object immediately."""
    return (
        f"kubectl -n {namespace} annotate {kind} {name} --overwrite"
        ' reconcile.fluxcd.io/requestedAt="$(date +%s)"'
    )


def subject_of(ref: ObjectRef) -> str:
    """Return the name of an object for people: `Secret flux-system/sops-age`."""
    prefix = f"{ref.namespace}/" if ref.namespace else ""
    return f"{ref.kind.name} {prefix}{ref.name}"
