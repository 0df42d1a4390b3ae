"""Secrets, maps of configuration, volumes, bindings of roles, disruption budgets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman_lab.kube.admission.draft import Draft, forbidden_field, required, wrong
from stockman_lab.kube.admission.go_shown import shown_budget
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, part_of

_KEY = "[-._a-zA-Z0-9]+"
_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',"
    f"  or 'KEY_NAME',  or 'key-name', regex used for validation is '{_KEY}')"
)
_IMMUTABLE = "field is immutable when `immutable` is set"
_KEYS_OF_TYPE = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
_MOST_BYTES = 1 << 20
_VOLUME_PLAIN = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)


def _key_causes(field: str, data: Object) -> Iterator[Cause]:
    for name in sorted(data):
        if not re.fullmatch(_KEY, name):
            yield wrong(f"{field}[{name}]", name, _KEY_TEXT)


def _size_causes(field: str, *parts: Object) -> Iterator[Cause]:
    size = sum(len(str(one)) for part in parts for one in part.values())
    if size > _MOST_BYTES:
        text = f"Too long: may not be more than {_MOST_BYTES} bytes"
        yield Cause("FieldValueTooLong", text, field)


def secret_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a secret."""
    data = part_of(draft.content, "data")
    yield from _key_causes("data", data)
    yield from _size_causes("data", data)
    for name in _KEYS_OF_TYPE.get(str(draft.content.get("type")), ()):
        if name not in data:
            yield required(f"data[{name}]")


def secret_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of a secret."""
    old = draft.old or {}
    if draft.content.get("type") != old.get("type"):
        yield wrong("type", draft.content.get("type"), "field is immutable")
    yield from _immutable_causes(draft, "data")
    yield from secret_causes(draft)


def _immutable_causes(draft: Draft, *names: str) -> Iterator[Cause]:
    old = draft.old or {}
    if not old.get("immutable"):
        return
    if not draft.content.get("immutable"):
        yield forbidden_field("immutable", _IMMUTABLE)
    for name in names:
        if draft.content.get(name) != old.get(name):
            yield forbidden_field(name, _IMMUTABLE)


def config_map_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a map of configuration."""
    data, binary = part_of(draft.content, "data"), part_of(draft.content, "binaryData")
    for name in sorted(data):
        if not re.fullmatch(_KEY, name):
            yield wrong(f"data[{name}]", name, _KEY_TEXT)
        if name in binary:
            yield wrong(f"data[{name}]", name, "duplicate of key present in binaryData")
    yield from _key_causes("binaryData", binary)
    yield from _size_causes("[]", data, binary)


def config_map_update_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with the change of a map of configuration."""
    yield from _immutable_causes(draft, "data", "binaryData")
    yield from config_map_causes(draft)


def claim_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a claim of a volume."""
    spec = part_of(draft.content, "spec")
    if not spec.get("accessModes"):
        yield required("spec.accessModes", "at least 1 access mode is required")
    if "storage" not in part_of(spec, "resources", "requests"):
        yield required("spec.resources[storage]")


def volume_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a volume."""
    spec = part_of(draft.content, "spec")
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    capacity = spec.get("capacity")
    if not capacity:
        yield required("spec.capacity")
    if set(capacity or {}) != {"storage"}:
        text = 'Unsupported value: null: supported values: "storage"'
        yield Cause("FieldValueNotSupported", text, "spec.capacity")
    if not any(name not in _VOLUME_PLAIN for name in spec):
        yield required("spec", "must specify a volume type")


def role_binding_update_causes(draft: Draft) -> Iterator[Cause]:
    """A binding stays with its role."""
    new, old = part_of(draft.content, "roleRef"), part_of(draft.old or {}, "roleRef")
    if new != old:
        shown = {
            "APIGroup": new.get("apiGroup", ""),
            "Kind": new.get("kind", ""),
            "Name": new.get("name", ""),
        }
        yield wrong("roleRef", shown, "cannot change roleRef")


_FIXED = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for"
    " bound claims"
)


def claim_update_causes(draft: Draft) -> Iterator[Cause]:
    """A claim that is bound may grow; nothing else about it changes."""
    new, old = dict(part_of(draft.content, "spec")), dict(part_of(draft.old or {}, "spec"))
    if part_of(draft.old or {}, "status").get("phase") == "Bound":
        for spec in (new, old):
            spec.pop("volumeAttributesClassName", None)
            spec.pop("resources", None)
    if not old.get("volumeName"):
        new.pop("volumeName", None)
        old.pop("volumeName", None)
    if "storageClassName" not in old:
        new.pop("storageClassName", None)
    if new != old:
        yield forbidden_field("spec", f"{_FIXED}\n")


def budget_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a disruption budget."""
    spec = part_of(draft.content, "spec")
    for name in ("minAvailable", "maxUnavailable"):
        found = spec.get(name)
        if isinstance(found, int) and found < 0:
            yield wrong(f"spec.{name}", found, "must be greater than or equal to 0")
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        why = "minAvailable and maxUnavailable cannot be both set"
        yield wrong("spec", shown_budget(spec), why)
