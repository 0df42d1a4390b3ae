"""Names, labels and annotations: how they may look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from stockman_lab.kube.admission.draft import Draft, forbidden_field, required, wrong
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, Tree, metadata_of

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_REMEMBERED = 4096
"""How many names and values are not looked at again: most objects have the same labels."""
_ANNOTATION_BYTES = 256 * (1 << 10)
_BY_LABEL = frozenset({("", "namespaces"), ("", "services")})
_RBAC = "rbac.authorization.k8s.io"
_IMMUTABLE = (
    *("name", "namespace", "uid", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)


def is_subdomain(text: str) -> bool:
    """Whether it is a name with dots."""
    return len(text) <= 253 and re.fullmatch(_SUBDOMAIN, text) is not None


def label_error(text: str) -> str:
    """What is wrong with a name without dots; empty: nothing."""
    is_valid = len(text) <= 63 and re.fullmatch(_LABEL, text)
    return "" if is_valid else f"a lowercase RFC 1123 label must match '{_LABEL}'"


def _name_error(text: str, group: str, plural: str) -> str:
    if group == _RBAC:
        return "may not contain '/' or '%'" if set(text) & {"/", "%"} else ""
    if (group, plural) in _BY_LABEL:
        return label_error(text)
    return "" if is_subdomain(text) else f"a lowercase RFC 1123 subdomain must match '{_SUBDOMAIN}'"


@lru_cache(maxsize=_REMEMBERED)
def qualified_error(text: str) -> str:
    """What is wrong with the name of a label, an annotation or a finalizer; empty: nothing."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_subdomain(prefix):
        return f"prefix part must be a lowercase RFC 1123 subdomain matching '{_SUBDOMAIN}'"
    if len(name) > 63 or not re.fullmatch(_QUALIFIED, name):
        return f"name part must be no more than 63 characters and match '{_QUALIFIED}'"
    return ""


@lru_cache(maxsize=_REMEMBERED)
def _value_error(text: str) -> str:
    if len(text) > 63 or (text and not re.fullmatch(_QUALIFIED, text)):
        return f"a valid label must be no more than 63 characters and match '({_QUALIFIED})?'"
    return ""


def metadata_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the metadata of an object."""
    metadata = metadata_of(draft.content)
    name = metadata.get("name", "")
    why = _name_error(name, *draft.place) if name else ""
    if not name:
        yield required("metadata.name", "name or generateName is required")
    elif why:
        yield wrong("metadata.name", name, why)
    if draft.resource.namespaced and not metadata.get("namespace"):
        yield required("metadata.namespace")
    if not draft.resource.namespaced and metadata.get("namespace"):
        yield forbidden_field("metadata.namespace", "not allowed on this type")
    yield from _words_causes(metadata)


def metadata_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of metadata."""
    if draft.old is None:
        return
    metadata, old = metadata_of(draft.content), metadata_of(draft.old)
    added = set(metadata.get("finalizers") or []) - set(old.get("finalizers") or [])
    if old.get("deletionTimestamp") and added:
        why = f"no new finalizers can be added if the object is being deleted: {sorted(added)}"
        yield forbidden_field("metadata.finalizers", why)
    for name in _IMMUTABLE:
        if metadata.get(name) != old.get(name):
            yield wrong(f"metadata.{name}", metadata.get(name), "field is immutable")
    yield from _words_causes(metadata)


def _words_causes(metadata: Object) -> Iterator[Cause]:
    """What is wrong with labels, annotations, finalizers and owners."""
    yield from label_causes(metadata.get("labels"), "metadata.labels")
    size = 0
    for key, value in sorted((metadata.get("annotations") or {}).items()):
        if why := qualified_error(key.lower()):
            yield wrong("metadata.annotations", key, why)
        size += len(key.encode()) + len(value.encode())
    if size > _ANNOTATION_BYTES:
        text = f"Too long: may not be more than {_ANNOTATION_BYTES} bytes"
        yield Cause("FieldValueTooLong", text, "metadata.annotations")
    for finalizer in metadata.get("finalizers") or []:
        if why := qualified_error(finalizer):
            yield wrong("metadata.finalizers", finalizer, why)
    for owner in metadata.get("ownerReferences") or []:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield wrong(f"metadata.ownerReferences.{name}", "", "must not be empty")


def label_causes(labels: Tree, field: str) -> Iterator[Cause]:
    """What is wrong with labels."""
    for key, value in sorted((labels or {}).items()):
        if why := qualified_error(key):
            yield wrong(field, key, why)
        if why := _value_error(value):
            yield wrong(field, value, why)
