"""Server-side apply, and keeping track of who set what in all other changes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from stockman_lab.kube.failures import About, Cause, Failure
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of, part_of
from stockman_lab.kube.patching.field_set import FieldSet, written_path
from stockman_lab.kube.patching.managed import (
    BrokenManaged,
    Managed,
    Manager,
    applier,
    is_reset,
    read_managed,
    updater,
    write_managed,
)
from stockman_lab.kube.patching.shapes import (
    Shape,
    Unlike,
    form_of,
    is_leaf,
    item_element,
    member_of,
)
from stockman_lab.kube.patching.typed import (
    Comparison,
    compared,
    fields_of,
    reduced,
    with_named_members,
)
from stockman_lab.kube.schema.rewriting import rewritten

_ABSENT = object()


def merged(live: Tree, applied: Tree, shape: Shape | None) -> Tree:
    """A live value with an applied one put over it."""
    result = _merge(live, applied, shape)
    return None if result is _ABSENT else result


def _merge(live: object, applied: object, shape: Shape | None) -> object:
    newest = live if applied is _ABSENT else applied
    form = form_of(shape, newest)
    empty = not any(item for item in (live, applied) if item is not _ABSENT)
    if is_leaf(shape, form) or empty:
        return newest
    if applied is None:
        return None
    if form == "list":
        if shape is None or not isinstance(newest, list):
            return newest
        left = live if isinstance(live, list) else []
        right = applied if isinstance(applied, list) else []
        return _merge_lists(left, right, shape) or _ABSENT
    if not isinstance(newest, dict):
        return newest
    left_object = live if isinstance(live, dict) else {}
    right_object = applied if isinstance(applied, dict) else {}
    return _merge_objects(left_object, right_object, shape) or _ABSENT


def _merge_objects(live: Object, applied: Object, shape: Shape | None) -> Object:
    founds: Object = {}
    for name in {**live, **applied}:
        inner = member_of(shape, name)
        result = _merge(live.get(name, _ABSENT), applied.get(name, _ABSENT), inner)
        if result is not _ABSENT:
            founds[name] = result
    return founds


def _merge_lists(live: list[Tree], applied: list[Tree], shape: Shape) -> list[Tree]:
    """Items in the order of what is applied; what only the live list has stays near its place."""
    left = [item_element(shape, item) for item in live]
    right = [item_element(shape, item) for item in applied]
    lives: dict[str, object] = {}
    for name, item in zip(left, live, strict=True):
        lives[name] = None if name in lives else item
    applies = dict(zip(right, applied, strict=True))
    shared = [name for name in right if name in lives]
    trees: list[Tree] = []
    done: set[str] = set()

    def put(name: str) -> None:
        found = _merge(lives.get(name, _ABSENT), applies.get(name, _ABSENT), shape.element)
        if found is not _ABSENT:
            trees.append(found)

    at, to = 0, 0
    while at < len(left) or to < len(right):
        if at < len(left) and to < len(right):
            name = left[at]
            if name == right[to]:
                done.add(name)
                put(name)
                at, to = at + 1, to + 1
                shared = shared[1:]
                continue
            if name in applies and shared and shared[0] != name:
                at += 1
                continue
        if at < len(left):
            name = left[at]
            if name not in applies:
                result = _merge(live[at], _ABSENT, shape.element)
                if result is not _ABSENT:
                    trees.append(result)
                at += 1
                continue
            if name in done:
                at += 1
        if to < len(right):
            name = right[to]
            done.add(name)
            put(name)
            to += 1
            if shared and shared[0] == name:
                shared = shared[1:]
    return trees


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL = "kubectl"
_BEFORE_FIRST = "before-first-apply"
_NEVER_MANAGED = (
    ("f:apiVersion",),
    ("f:kind",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        )
    ),
)
Paths = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """In which way an object is written."""

    manager: str
    version: str
    """`apps/v1`: that of the request."""
    shape: Shape
    now: str
    """As objects write it."""
    subresource: str = ""
    untouched: Paths = ()
    """Fields that this way of writing never changes."""


def track_update(live: Object | None, new: Object, writing: Writing) -> Object:
    """An object that somebody wrote, with its managers brought up to date; it is nobody else's."""
    result = _without_managers(new)
    try:
        managed = _previous_managers(live, new, writing)
    except BrokenManaged:
        managed = Managed()
    if live is not None and not managed.fields and not is_reset(new):
        return result
    old = nothing(writing) if live is None else _without_managers(live)
    manager = updater(writing.manager, writing.version, writing.subresource)
    try:
        difference = compared(old, result, writing.shape).without(writing.untouched)
    except Unlike:
        return result
    _let_go(managed, difference, None, force=True)
    gained = _manageable(difference.modified.union(difference.added))
    if gained:
        before = managed.fields.get(manager) or FieldSet()
        managed.put(manager, before.union(gained), writing.version)
        managed.times[manager] = writing.now

    write_managed(result, managed)
    return result


def _previous_managers(live: Object | None, new: Object, writing: Writing) -> Managed:
    if writing.subresource:
        return read_managed(live or {})
    if is_reset(new):
        return Managed()
    try:
        managed = read_managed(new)
    except BrokenManaged:
        managed = Managed()
    return managed if managed.fields else read_managed(live or {})


def nothing(writing: Writing) -> Object:
    """What is there before an object is: of built-in kinds, parts that are never left away."""
    if writing.shape.is_custom:
        return {}
    return copied(_nothing(writing.shape))


@cache
def _nothing(shape: Shape) -> Object:
    content = rewritten(shape, {})
    return content if isinstance(content, dict) else {}


def _without_managers(content: Object) -> Object:
    metadata = {name: one for name, one in metadata_of(content).items() if name != "managedFields"}
    return {**content, "metadata": metadata}


class Conflicting(Exception):
    """Others manage fields that somebody wants to apply."""

    def __init__(self, fields: dict[Manager, FieldSet]) -> None:
        super().__init__()
        self.fields = fields


def _let_go(managed: Managed, difference: Comparison, own: Manager | None, *, force: bool) -> None:
    """Take fields that change or go away from all others; raises `Conflicting`."""
    changed = difference.modified.union(difference.added)
    conflicts = {
        manager: shared
        for manager, fields in managed.fields.items()
        if manager != own and (shared := fields.intersection(changed))
    }
    if conflicts and not force:
        raise Conflicting(conflicts)
    for manager, fields in list(managed.fields.items()):
        if manager == own:
            continue
        left = fields.difference(changed).difference(difference.removed)
        managed.put(manager, left, managed.versions[manager])


def apply(live: Object | None, content: Object, writing: Writing, *, force: bool) -> Object:
    """What an object becomes when somebody applies fields; raises `Failure` on conflicts."""
    if metadata_of(content).get("managedFields") is not None:
        raise Failure(400, "BadRequest", "metadata.managedFields must be nil")
    try:
        result = _apply_fields(live, content, writing, force=force)
    except Conflicting as conflicting:
        left = _real_conflicts(live, conflicting.fields, writing)
        if left:
            raise _conflict(left) from None
        result = _apply_fields(live, content, writing, force=True)
    if writing.manager == _KUBECTL and part_of(result, "metadata", "annotations").get(LAST_APPLIED):
        result["metadata"]["annotations"][LAST_APPLIED] = _kubectl_annotation(content)
    return result


def _apply_fields(live: Object | None, content: Object, writing: Writing, *, force: bool) -> Object:
    managed = read_managed(live or {})
    old = nothing(writing) if live is None else _without_managers(live)
    if live is not None and not managed.fields:
        first = updater(_BEFORE_FIRST, writing.version)
        without = compared(nothing(writing), old, writing.shape).without(writing.untouched)
        field_set = _manageable(without.modified.union(without.added))
        managed.put(first, field_set, writing.version)
        managed.times[first] = writing.now
    own = applier(writing.manager, writing.subresource)
    last = managed.fields.get(own)
    new = merged(old, content, writing.shape)
    fields = fields_of(content, writing.shape).without(writing.untouched)
    managed.fields[own] = fields
    managed.versions[own] = writing.version
    if last:
        new = _prune(new, managed, last, writing.shape)
    difference = compared(old, new, writing.shape).without(writing.untouched)
    _let_go(managed, difference, own, force=force)
    managed.put(own, _manageable(fields), writing.version)
    if new != old or live is None:
        managed.times[own] = writing.now
    tree: Object = _without_nulls(new)
    write_managed(tree, managed)
    return tree


def _without_nulls(value: Tree) -> Tree:
    """Another value with the same content, less what pruning left empty."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _manageable(fields: FieldSet) -> FieldSet:
    return fields.without(_NEVER_MANAGED).but("f:metadata")


def _prune(new: Object, managed: Managed, last: FieldSet, shape: Shape) -> Object:
    """An object without fields that were applied before, but are no longer, by anybody."""
    everything = with_named_members(fields_of(new, shape), shape)
    pruned = reduced(new, with_named_members(last, shape), shape) or {}
    owned = FieldSet()
    for fields in managed.fields.values():
        owned = owned.union(fields)
    kept = with_named_members(fields_of(pruned, shape), shape)
    kept = kept.union(with_named_members(owned, shape))
    pruned = reduced(new, everything.difference(kept), shape) or {}
    left = with_named_members(fields_of(pruned, shape), shape)
    dangling = everything.difference(left).intersection(with_named_members(last, shape))
    tree: Object = reduced(new, dangling, shape) or {}
    return tree


def _real_conflicts(
    live: Object | None, conflicts: dict[Manager, FieldSet], writing: Writing
) -> dict[Manager, FieldSet]:
    """Conflicts that stay where kubectl goes over from its own way of applying."""
    written = part_of(live or {}, "metadata", "annotations").get(LAST_APPLIED)
    if writing.manager != _KUBECTL or not written or live is None:
        return conflicts
    try:
        before = json.loads(written)
    except ValueError:
        return conflicts
    allowed = fields_of(before, writing.shape)
    allowed = allowed.difference(compared(before, live, writing.shape).modified)
    differences = {manager: fields.difference(allowed) for manager, fields in conflicts.items()}
    return {manager: fields for manager, fields in differences.items() if fields}


def _kubectl_annotation(desired: Object) -> str:
    content = copied(desired)
    part_of(content, "metadata", "annotations").pop(LAST_APPLIED, None)
    text = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return f"{text}\n"


def _conflict(conflicts: dict[Manager, FieldSet]) -> Failure:
    pairs = [
        (manager, written_path(path))
        for manager in sorted(conflicts)
        for path in conflicts[manager].paths()
    ]
    causes = [
        Cause("FieldManagerConflict", f"conflict with {manager.printed}", path)
        for manager, path in pairs
    ]
    if len(pairs) == 1:
        manager, path = pairs[0]
        text = f"Apply failed with 1 conflict: conflict with {manager.printed}: {path}"
    else:
        lines = _by_manager(pairs)
        text = f"Apply failed with {len(pairs)} conflicts: {chr(10).join(lines)}"
    return Failure(409, "Conflict", text, About(causes=causes))


def _by_manager(pairs: Iterable[tuple[Manager, str]]) -> list[str]:
    lines: list[str] = []
    for manager, path in pairs:
        head = f"conflicts with {manager.printed}:"
        if head not in lines:
            lines.append(head)
        lines.append(f"- {path}")
    return lines
