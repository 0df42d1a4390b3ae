"""What all objects have in common: a name, and labels and annotations that are texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman.rendering.checks.applied_objects import KUSTOMIZE
from stockman.rendering.checks.kinds import SUBSTITUTED, Fault
from stockman.rendering.checks.objects import TreeObject

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
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


def find_metadata_faults(one: TreeObject) -> Iterator[Fault]:
    """Everything in the metadata that no kind allows."""
    if one.group == KUSTOMIZE:
        return
    metadata = one.content.get("metadata")
    if not isinstance(metadata, dict):
        yield Fault("metadata", "an object has to have a name")
        return
    for key in metadata.keys() - _FIELDS:
        yield Fault(f"metadata.{key}", "there is no such field")
    for key in ("name", "namespace"):
        value = metadata.get(key, "" if key == "name" else None)
        if value is not None and not _matches(_NAME, value):
            yield Fault(
                f"metadata.{key}", "it has to consist of small letters, digits, dots and hyphens"
            )
    for key in ("labels", "annotations"):
        values = metadata.get(key, {})
        for name, value in values.items() if isinstance(values, dict) else ((key, values),):
            place = f"metadata.{key}.{name}"
            if not isinstance(value, str):
                yield Fault(place, "it is not a text: quote it")
            elif key == "labels" and not _matches(_LABEL, value):
                yield Fault(place, f"it does not match {_LABEL.pattern}")


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    if not isinstance(value, str):
        return False
    return SUBSTITUTED in value or pattern.fullmatch(value) is not None
