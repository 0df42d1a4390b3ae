"""Names, labels and annotations: how they may look, and what is said of others."""

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
_LABEL_VALUE = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_REMEMBERED = 4096
"""How many names and values are not looked at again: most objects have the same labels."""
_ANNOTATION_BYTES = 256 * (1 << 10)

SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used"
    f" for validation is '{_SUBDOMAIN}')"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and"
    " must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex"
    f" used for validation is '{_LABEL}')"
)
_QUALIFIED_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    " with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used"
    f" for validation is '{_QUALIFIED}')"
)
_WHOLE_TEXT = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used"
    f" for validation is '{_QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g."
    " 'example.com/MyName')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or"
    f" 'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
)
_BY_LABEL = frozenset({("", "namespaces"), ("", "services")})
_BY_PATH = frozenset(
    {
        ("rbac.authorization.k8s.io", one)
        for one in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    }
)


def is_subdomain(text: str) -> bool:
    """Whether it is a name with dots."""
    return len(text) <= 253 and re.fullmatch(_SUBDOMAIN, text) is not None


def name_errors(text: str, group: str, plural: str) -> list[str]:
    """What is wrong with the name of an object of a kind."""
    if (group, plural) in _BY_PATH:
        return [f"may not contain '{one}'" for one in "/%" if one in text]
    if (group, plural) in _BY_LABEL:
        return label_errors(text)
    return subdomain_errors(text)


def subdomain_errors(text: str) -> list[str]:
    """What is wrong with a name with dots."""
    return _length(text, 253) + ([] if re.fullmatch(_SUBDOMAIN, text) else [SUBDOMAIN_TEXT])


def label_errors(text: str) -> list[str]:
    """What is wrong with a name without dots."""
    return _length(text, 63) + ([] if re.fullmatch(_LABEL, text) else [LABEL_TEXT])


def _length(text: str, most: int) -> list[str]:
    return [f"must be no more than {most} characters"] if len(text) > most else []


@lru_cache(maxsize=_REMEMBERED)
def qualified_errors(text: str) -> tuple[str, ...]:
    """What is wrong with the name of a label, an annotation or a finalizer."""
    prefix, slash, name = text.rpartition("/")
    qualified_texts = []
    if slash:
        if not prefix:
            qualified_texts.append("prefix part must be non-empty")
        elif not is_subdomain(prefix):
            qualified_texts.append(f"prefix part {SUBDOMAIN_TEXT}")
        if "/" in prefix:
            return (_WHOLE_TEXT,)
    if not name:
        qualified_texts.append("name part must be non-empty")
    elif len(name) > 63:
        qualified_texts.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_QUALIFIED, name):
        qualified_texts.append(_QUALIFIED_TEXT)
    return tuple(qualified_texts)


@lru_cache(maxsize=_REMEMBERED)
def label_value_errors(text: str) -> tuple[str, ...]:
    """What is wrong with the value of a label."""
    found = ("must be no more than 63 bytes",) if len(text.encode()) > 63 else ()
    return found if re.fullmatch(_LABEL_VALUE, text) else (*found, _VALUE_TEXT)


def metadata_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the metadata of an object."""
    metadata = metadata_of(draft.content)
    name = metadata.get("name", "")
    if metadata.get("generateName"):
        stem = metadata["generateName"].rstrip("-") or metadata["generateName"]
        for why in name_errors(stem, *draft.place):
            yield wrong("metadata.generateName", metadata["generateName"], why)
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        for why in name_errors(name, *draft.place):
            yield wrong("metadata.name", name, why)
    if draft.resource.namespaced and not metadata.get("namespace"):
        yield required("metadata.namespace")
    if not draft.resource.namespaced and metadata.get("namespace"):
        yield forbidden_field("metadata.namespace", "not allowed on this type")
    yield from label_causes(metadata.get("labels"), "metadata.labels")
    yield from _annotation_causes(metadata.get("annotations"))
    yield from _owner_causes(metadata)
    for place, finalizer in enumerate(metadata.get("finalizers") or []):
        for why in qualified_errors(finalizer):
            yield wrong("metadata.finalizers", finalizer, why)
        if "/" not in finalizer and finalizer not in _STANDARD:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield wrong(f"metadata.finalizers[{place}]", finalizer, why)


_STANDARD = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def label_causes(labels: Tree, field: str) -> Iterator[Cause]:
    """What is wrong with labels."""
    for key, value in sorted((labels or {}).items()):
        for why in qualified_errors(key):
            yield wrong(field, key, why)
        for why in label_value_errors(value):
            yield wrong(field, value, why)


def _annotation_causes(annotations: Tree) -> Iterator[Cause]:
    size = 0
    for key, value in sorted((annotations or {}).items()):
        for why in qualified_errors(key.lower()):
            yield wrong("metadata.annotations", key, why)
        size += len(key.encode()) + len(value.encode())
    if size > _ANNOTATION_BYTES:
        text = f"Too long: may not be more than {_ANNOTATION_BYTES} bytes"
        yield Cause("FieldValueTooLong", text, "metadata.annotations")


def _owner_causes(metadata: Object) -> Iterator[Cause]:
    for owner in metadata.get("ownerReferences") or []:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield wrong(f"metadata.ownerReferences.{name}", "", "must not be empty")


_IMMUTABLE = (
    *("name", "namespace", "uid", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)


def metadata_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of metadata."""
    if draft.old is None:
        return
    metadata, old = metadata_of(draft.content), metadata_of(draft.old)
    if draft.old and old.get("deletionTimestamp"):
        added = [
            finalizer
            for finalizer in metadata.get("finalizers") or []
            if finalizer not in (old.get("finalizers") or [])
        ]
        if added:
            why = f"no new finalizers can be added if the object is being deleted: {added}"
            yield forbidden_field("metadata.finalizers", why)
    for name in _IMMUTABLE:
        if metadata.get(name) != old.get(name):
            yield wrong(f"metadata.{name}", metadata.get(name), "field is immutable")
    yield from label_causes(metadata.get("labels"), "metadata.labels")
    yield from _annotation_causes(metadata.get("annotations"))
    yield from _owner_causes(metadata)
