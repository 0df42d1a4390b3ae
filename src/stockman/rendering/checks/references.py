"""Secrets and ConfigMaps that objects name: they are in the tree, or somebody else makes them."""

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
    "privateKeySecretRef": "cert-manager makes it when it registers an account",
}
_CSI = "csi.storage.k8s.io/"


class Reference(NamedTuple):
    """One name, as an object uses it."""

    kind: str
    namespace: str
    name: str
    key: str
    """Empty: all of its keys."""
    reason: str
    """Why it need not be in the tree. Empty: it has to."""


class ExternalReference(NamedTuple):
    """A name that is not in the tree and need not be."""

    path: str
    kind: str
    name: str
    reason: str


KnownReferences = Mapping[tuple[str, str, str], frozenset[str] | None]
"""Keys by kind, namespace and name. None: which ones is not known."""


def known_references(application: AppliedTree) -> KnownReferences:
    """Every Secret and ConfigMap that will be there."""
    found: dict[tuple[str, str, str], frozenset[str] | None] = {
        (one.kind, one.namespace, one.name): one.keys for one in application.generated
    }
    for applied in application.objects:
        one = applied.one
        if one.is_a("", "Secret", "ConfigMap"):
            fields = ("data", "stringData", "binaryData")
            keys = frozenset(key for field in fields for key in mapping_at(one.content, field))
            found[one.kind, applied.namespace, one.name] = keys
        elif one.is_a("cert-manager.io", "Certificate"):
            name = text_at(one.spec, "secretName")
            found["Secret", applied.namespace, name] = _CERTIFICATE_KEYS
    return found


def references(applied: AppliedObject) -> Iterator[Reference]:
    """Every Secret and ConfigMap that an object names."""
    for one in _walk_references(applied.one.content):
        yield one if one.namespace else one._replace(namespace=applied.home)


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
        for one in mappings_at(named, key):
            keys = text_at(one, "valuesKey")
            if key == "valuesFrom" and not keys:
                keys = "values.yaml"
            yield from _reference(text_at(one, "kind") or "Secret", one, keys)


def _mapping_references(key: str, item: Content) -> Iterator[Reference]:
    if kind := _REFERENCE_KEYS.get(key):
        yield from _reference(kind, item, text_at(item, "key"))
    elif key in _CREATED_BY_CONSUMER:
        for one in _reference("Secret", item, ""):
            yield one._replace(reason=_CREATED_BY_CONSUMER[key])
    elif key.endswith("SecretRef"):
        yield from _reference("Secret", item, text_at(item, "key"))
    elif key in _VOLUMES:
        kind, field = _VOLUMES[key]
        if name := text_at(item, field):
            yield from _reference(kind, {**item, "name": name}, "")


def _value_references(value: Content, key: str, name: str) -> Iterator[Reference]:
    """`existingSecret: name` of charts, and the parameters of storage classes."""
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
    """Names that nobody makes (and whether only the key is missing), and those made elsewhere.

    `pending`: apps that wait for something, with what they wait for.
    """
    known = known_references(application)
    missing: list[tuple[AppliedObject, Reference, bool]] = []
    elsewhere: dict[ExternalReference, None] = {}
    for applied in _keys_in_tree(application.objects):
        for one in references(applied):
            there = (one.kind, one.namespace, one.name)
            keys = known.get(there, frozenset())
            if there in known and (keys is None or not one.key or one.key in keys):
                continue
            reason = one.reason
            if not reason and applied.app in pending:
                reason = f"the app waits for {pending[applied.app]}"
            if reason:
                elsewhere[ExternalReference(applied.one.path, one.kind, one.name, reason)] = None
            else:
                missing.append((applied, one, there in known))
    return missing, list(elsewhere)


def _keys_in_tree(objects: Iterable[AppliedObject]) -> Iterator[AppliedObject]:
    return (applied for applied in objects if applied.one.ours)
