"""Check that referenced Secrets and ConfigMaps are in the tree or created by something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from stockman.rendering.checks.applied_objects import AppliedObject, AppliedTree
from stockman.rendering.checks.objects import Content, mapping_at, mappings_at, text_at

_CERTIFICATE_KEYS = frozenset({"tls.crt", "tls.key", "ca.crt"})
_REFERENCE_KEYS = {
    "configMapKeyRef": "ConfigMap",
    "configMapRef": "ConfigMap",
    "secretKeyRef": "Secret",
    "secretRef": "Secret",
    "templatesRef": "Secret",
}
_VOLUMES = {"secret": ("Secret", "secretName"), "configMap": ("ConfigMap", "name")}
_LIST_KEYS = ("substituteFrom", "valuesFrom", "certificateRefs")
_CREATED_BY_CONSUMER = {
    "privateKeySecretRef": "cert-manager creates it when it registers an account",
}
_CSI = "csi.storage.k8s.io/"


class Reference(NamedTuple):
    """A reference to a Secret or ConfigMap."""

    kind: str
    namespace: str
    name: str
    key: str
    """Empty: all keys."""
    reason: str
    """Why it may be missing from the tree. Empty: it must exist."""


class ExternalReference(NamedTuple):
    """A reference to an object that is created outside of the tree."""

    path: str
    kind: str
    name: str
    reason: str


KnownReferences = Mapping[tuple[str, str, str], frozenset[str] | None]
"""Keys by kind, namespace and name. None: the keys are unknown."""


def known_references(application: AppliedTree) -> KnownReferences:
    """Return every Secret and ConfigMap that will exist."""
    known: dict[tuple[str, str, str], frozenset[str] | None] = {
        (generated.kind, generated.namespace, generated.name): generated.keys
        for generated in application.generated
    }
    for applied in application.objects:
        item = applied.object
        if item.is_a("", "Secret", "ConfigMap"):
            fields = ("data", "stringData", "binaryData")
            keys = frozenset(key for field in fields for key in mapping_at(item.content, field))
            known[item.kind, applied.namespace, item.name] = keys
        elif item.is_a("cert-manager.io", "Certificate"):
            name = text_at(item.spec, "secretName")
            known["Secret", applied.namespace, name] = _CERTIFICATE_KEYS
    return known


def references(applied: AppliedObject) -> Iterator[Reference]:
    """Return every Secret and ConfigMap that an object refers to."""
    for reference in _walk_references(applied.object.content):
        yield reference if reference.namespace else reference._replace(namespace=applied.home)


def _walk_references(value: object) -> Iterator[Reference]:
    if isinstance(value, list):
        for item in value:
            yield from _walk_references(item)
    elif isinstance(value, dict):
        yield from _references_in(value)
        for item in value.values():
            yield from _walk_references(item)


def _references_in(value: Mapping[object, object]) -> Iterator[Reference]:
    named = {key: item for key, item in value.items() if isinstance(key, str)}
    for key, item in named.items():
        if isinstance(item, dict):
            yield from _mapping_references(key, item)
        elif isinstance(item, str):
            yield from _value_references(named, key, item)
    for key in _LIST_KEYS:
        for entry in mappings_at(named, key):
            keys = text_at(entry, "valuesKey")
            if key == "valuesFrom" and not keys:
                keys = "values.yaml"
            yield from _reference(text_at(entry, "kind") or "Secret", entry, keys)


def _mapping_references(key: str, item: Content) -> Iterator[Reference]:
    if kind := _REFERENCE_KEYS.get(key):
        yield from _reference(kind, item, text_at(item, "key"))
    elif key in _CREATED_BY_CONSUMER:
        for reference in _reference("Secret", item, ""):
            yield reference._replace(reason=_CREATED_BY_CONSUMER[key])
    elif key.endswith("SecretRef"):
        yield from _reference("Secret", item, text_at(item, "key"))
    elif key in _VOLUMES:
        kind, field = _VOLUMES[key]
        if name := text_at(item, field):
            yield from _reference(kind, {**item, "name": name}, "")


def _value_references(value: Content, key: str, name: str) -> Iterator[Reference]:
    """Return references in chart values, and in parameters of storage classes."""
    if not name:
        return
    if key.startswith("existing") and key.endswith("Secret"):
        yield Reference("Secret", "", name, text_at(value, f"{key}Key"), "")
    elif key.startswith(_CSI) and key.endswith("-secret-name"):
        namespace = text_at(value, f"{key.removesuffix('-name')}-namespace")
        yield Reference("Secret", namespace, name, "", "")


def _reference(kind: str, item: Content, key: str) -> Iterator[Reference]:
    if item.get("optional") is not True and (name := text_at(item, "name")):
        yield Reference(kind, text_at(item, "namespace"), name, key, "")


def missing_references(
    application: AppliedTree, pending: Mapping[str, str]
) -> tuple[list[tuple[AppliedObject, Reference, bool]], list[ExternalReference]]:
    """Return missing references (and whether only the key is missing), and external ones.

    `pending` maps suspended apps to what they wait for.
    """
    known = known_references(application)
    missing: list[tuple[AppliedObject, Reference, bool]] = []
    elsewhere: dict[ExternalReference, None] = {}
    for applied in _keys_in_tree(application.objects):
        for reference in references(applied):
            target = (reference.kind, reference.namespace, reference.name)
            keys = known.get(target, frozenset())
            if target in known and (keys is None or not reference.key or reference.key in keys):
                continue
            reason = reference.reason
            if not reason and applied.app in pending:
                reason = f"the app waits for {pending[applied.app]}"
            if reason:
                elsewhere[
                    ExternalReference(applied.object.path, reference.kind, reference.name, reason)
                ] = None
            else:
                missing.append((applied, reference, target in known))
    return missing, list(elsewhere)


def _keys_in_tree(objects: Iterable[AppliedObject]) -> Iterator[AppliedObject]:
    return (applied for applied in objects if applied.object.ours)
