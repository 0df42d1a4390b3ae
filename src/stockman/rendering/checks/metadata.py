"""Check the metadata of objects: names, labels and annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman.model.pattern import pattern
from stockman.rendering.checks.applied_objects import KUSTOMIZE
from stockman.rendering.checks.kinds import SUBSTITUTED, Fault
from stockman.rendering.checks.objects import TreeObject

_NAME = pattern(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL = pattern(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_FIELDS = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "finalizers",
        "generateName",
        "labels",
        "name",
        "namespace",
        "ownerReferences",
    }
)


def find_metadata_faults(item: TreeObject) -> Iterator[Fault]:
    """Return everything in the metadata that is invalid for every kind."""
    if item.group == KUSTOMIZE:
        return
    metadata = item.content.get("metadata")
    if not isinstance(metadata, dict):
        yield Fault("metadata", "an object must have a name")
        return
    for key in metadata.keys() - _FIELDS:
        yield Fault(f"metadata.{key}", "the field does not exist")
    for key in ("name", "namespace"):
        value = metadata.get(key, "" if key == "name" else None)
        if value is not None and not _matches(_NAME, value):
            yield Fault(
                f"metadata.{key}", "only lower-case letters, digits, dots and hyphens are allowed"
            )
    for key in ("labels", "annotations"):
        values = metadata.get(key, {})
        for name, value in values.items() if isinstance(values, dict) else ((key, values),):
            path = f"metadata.{key}.{name}"
            if not isinstance(value, str):
                yield Fault(path, "the value is not a string: quote it")
            elif key == "labels" and not _matches(_LABEL, value):
                yield Fault(path, f"the value does not match {_LABEL.pattern}")


def _matches(expression: re.Pattern[str], value: object) -> bool:
    if not isinstance(value, str):
        return False
    return SUBSTITUTED in value or expression.fullmatch(value) is not None
