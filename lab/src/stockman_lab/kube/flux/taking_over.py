"""Fields that kubectl wrote become Flux's own, so that it can take them away."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree, copied, metadata_of

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OTHERS = (
    ("kubectl", "Apply"),
    ("kubectl", "Update"),
    ("before-first-apply", "Update"),
    ("kustomize-controller", "Update"),
)
"""Beginnings of the names of managers, and how they wrote."""


def claim(live: Object, manager: str) -> Object | None:
    """The change that makes fields of others a manager's own; None: there are none."""
    metadata = metadata_of(live)
    change: Object = {}
    entries = _claimed(metadata.get("managedFields") or [], manager)
    if entries is not None:
        change["managedFields"] = entries
    if _LAST_APPLIED in (metadata.get("annotations") or {}):
        change["annotations"] = {_LAST_APPLIED: None}
    return {"metadata": change} if change else None


def _claimed(entries: list[Object], manager: str) -> list[Object] | None:
    own = next((copied(entry) for entry in entries if _is(entry, manager, "Apply")), None)
    kept = [entry for entry in entries if not _is(entry, manager, "Apply")]
    others = [one for one in kept if not one.get("subresource") and _is_foreign(one)]
    if not others:
        return None
    for one in others:
        if own is None:
            own = {**copied(one), "manager": manager, "operation": "Apply"}
        else:
            own["fieldsV1"] = _union(own.get("fieldsV1") or {}, one.get("fieldsV1") or {})
    return [*(one for one in kept if one not in others), own or {}]


def _is(entry: Object, manager: str, operation: str) -> bool:
    return entry.get("manager") == manager and entry.get("operation") == operation


def _is_foreign(entry: Object) -> bool:
    return any(
        str(entry.get("manager", "")).startswith(name) and entry.get("operation") == operation
        for name, operation in _OTHERS
    )


def _union(one: Tree, other: Tree) -> Tree:
    trees = dict(one)
    for name, inner in other.items():
        trees[name] = _union(trees[name], inner) if name in trees else inner
    return trees
