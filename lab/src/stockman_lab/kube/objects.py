"""Objects of Kubernetes as trees of JSON, and the words that all code about them shares."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeAlias

Tree: TypeAlias = Any
"""A value of JSON: null, a truth value, a number, a text, a list or an object."""
Object: TypeAlias = dict[str, Any]
"""An object of JSON."""

_METADATA_ORDER = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types of values that nothing is inside of."""
_HEAD_ORDER = ("kind", "apiVersion", "metadata")


def written_time(now: float) -> str:
    """A moment as objects write it, in whole seconds."""
    return _written(int(now))


@lru_cache(maxsize=256)
def _written(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def metadata_of(content: Mapping[str, Tree]) -> Object:
    """The metadata of an object; an empty one where it has none."""
    metadata = content.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def part_of(content: Mapping[str, Tree], *names: str) -> Object:
    """An inner object by the names that lead to it; an empty one where it is not there."""
    tree: Tree = content
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def entries_of(content: Mapping[str, Tree], *names: str) -> list[Object]:
    """The objects of an inner list; none where it is not there."""
    *way, last = names
    result = part_of(content, *way).get(last)
    return [item for item in result if isinstance(item, dict)] if isinstance(result, list) else []


def copied(content: Object) -> Object:
    """Another object with the same content."""
    return {
        name: one if type(one) in _PLAIN else _copy(one)  # most are, and need no call
        for name, one in content.items()
    }


def _copy(value: Tree) -> Tree:
    if isinstance(value, dict):
        return copied(value)
    if isinstance(value, list | tuple):
        return [item if type(item) in _PLAIN else _copy(item) for item in value]
    return value


def in_order(content: Object) -> Object:
    """Kind, version and metadata first, as the server writes them."""
    result = {name: content[name] for name in _HEAD_ORDER if name in content}
    if isinstance(result.get("metadata"), dict):
        result["metadata"] = _order_metadata(result["metadata"])
    result.update((name, one) for name, one in content.items() if name not in result)
    return result


def _order_metadata(metadata: Object) -> Object:
    result = {name: metadata[name] for name in _METADATA_ORDER if name in metadata}
    result.update((name, one) for name, one in metadata.items() if name not in result)
    return result
