"""Calls on objects of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from stockman.kubernetes.calls.base import Calls, Change, require_metadata
from stockman.kubernetes.errors import DisruptionBudgetExceeded, Expired, unexpected_answer
from stockman.kubernetes.objects import (
    PODS,
    DeleteOptions,
    Evicted,
    EvictionBlocked,
    EvictionOptions,
    JsonPatch,
    MergePatch,
    Object,
    ObjectList,
    ObjectRef,
    ResourceKind,
    Scale,
    Selection,
    ServerSideApply,
    kind_path,
    object_path,
)
from stockman.kubernetes.rows import (
    Row,
    UnexpectedAnswer,
    mapping,
    mappings,
    number,
    optional_text,
    text,
)
from stockman.kubernetes.transport import Request
from stockman.model.record import record

_PAGE = 500
_MERGE = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_APPLY = "application/apply-patch+yaml"


@record
class _Page:
    items: tuple[Object, ...]
    version: str
    following: str
    """Empty: it is the last one."""


class ObjectCalls(Calls):
    """`ports.kubernetes.objects.Objects` over a wire."""

    async def get(self, ref: ObjectRef) -> Object:
        return await self._read(object_path(ref), require_metadata)

    async def objects(self, kind: ResourceKind, selection: Selection | None = None) -> ObjectList:
        wanted = selection or Selection()
        try:
            return await self._paged(kind, wanted, _PAGE)
        except Expired:
            return await self._paged(kind, wanted, 0)

    async def create(self, kind: ResourceKind, content: Object, *, dry_run: bool = False) -> Object:
        path = kind_path(kind, _namespace_and_name(content)[0])
        made = Change(method="POST", path=path, content=_with_kind(kind, content), dry_run=dry_run)
        return await self._change(made, require_metadata)

    async def apply(self, kind: ResourceKind, wish: ServerSideApply) -> Object:
        change = Change(
            method="PATCH",
            path=object_path(_ref(kind, wish.content), wish.subresource),
            content=_with_kind(kind, wish.content),
            content_type=_APPLY,
            manager=wish.manager,
            dry_run=wish.dry_run,
            more=(("force", "true" if wish.force else "false"),),
        )
        return await self._change(change, require_metadata)

    async def replace(
        self, kind: ResourceKind, content: Object, *, dry_run: bool = False
    ) -> Object:
        path = object_path(_ref(kind, content))
        made = Change(method="PUT", path=path, content=_with_kind(kind, content), dry_run=dry_run)
        return await self._change(made, require_metadata)

    async def patch(self, ref: ObjectRef, patch: MergePatch | JsonPatch) -> Object:
        merges = isinstance(patch, MergePatch)
        change = Change(
            method="PATCH",
            path=object_path(ref, patch.subresource),
            content=patch.changes if isinstance(patch, MergePatch) else [*patch.operations],
            content_type=_MERGE if merges else _JSON_PATCH,
            dry_run=patch.dry_run,
        )
        return await self._change(change, require_metadata)

    async def delete(self, ref: ObjectRef, how: DeleteOptions | None = None) -> bool:
        wish = how or DeleteOptions()
        change = Change(
            method="DELETE",
            path=object_path(ref),
            content=delete_options(wish),
            manager="",
            dry_run=wish.dry_run,
        )
        return await self._change(change, _is_gone)

    async def _paged(self, kind: ResourceKind, wanted: Selection, size: int) -> ObjectList:
        """All pages; whatever is changed in between is not seen."""
        items: list[Object] = []
        version = following = ""
        while True:
            query = (*selection_query(wanted), *((("limit", str(size)),) if size else ()))
            if following:
                query = (*query, ("continue", following))
            path = kind_path(kind, wanted.namespace)
            page = await self._read(path, lambda row: _read_page(kind, row), query)
            items += page.items
            version = version or page.version
            if not page.following:
                return ObjectList(items=tuple(items), version=version)
            following = page.following


def selection_query(wanted: Selection) -> tuple[tuple[str, str], ...]:
    """A selection as parameters."""
    found = (("labelSelector", wanted.labels), ("fieldSelector", wanted.fields))
    return tuple((name, value) for name, value in found if value)


def delete_options(wish: DeleteOptions) -> Object:
    """How an object goes, as it is sent."""
    found: dict[str, object] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    conditions = {"uid": wish.uid, "resourceVersion": wish.version}
    told = {name: value for name, value in conditions.items() if value}
    if told:
        found["preconditions"] = told
    if wish.propagation is not None:
        found["propagationPolicy"] = wish.propagation.value
    if wish.grace is not None:
        found["gracePeriodSeconds"] = wish.grace
    if wish.dry_run:
        # Of deletions that say so in a parameter alone it is not heard, and the object goes.
        found["dryRun"] = ["All"]
    return found


def _read_page(kind: ResourceKind, row: Row) -> _Page:
    metadata = mapping(row, "metadata")
    if not isinstance(row.get("items"), list):
        raise UnexpectedAnswer("items are not told")
    return _Page(
        items=tuple(_with_kind(kind, one) for one in mappings(row, "items")),
        version=text(metadata, "resourceVersion"),
        following=optional_text(metadata, "continue"),
    )


def _with_kind(kind: ResourceKind, content: Object) -> Object:
    """An object that tells its kind: in lists they do not."""
    if "kind" in content and "apiVersion" in content:
        return content
    return {"apiVersion": kind.api_version, "kind": kind.name, **content}


def _namespace_and_name(content: Object) -> tuple[str, str]:
    metadata = content.get("metadata")
    told: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    namespace, name = told.get("namespace"), told.get("name")
    return (
        namespace if isinstance(namespace, str) else "",
        name if isinstance(name, str) else "",
    )


def _ref(kind: ResourceKind, content: Object) -> ObjectRef:
    namespace, name = _namespace_and_name(content)
    return ObjectRef(kind=kind, name=name, namespace=namespace)


def _is_gone(row: Row) -> bool:
    """Whether what answers a deletion says that nothing is left to wait for."""
    if row.get("kind") == "Status":
        return True
    metadata = mapping(row, "metadata")
    if not optional_text(metadata, "deletionTimestamp"):
        return True
    waits = metadata.get("finalizers") or mapping(row, "spec").get("finalizers")
    return not waits and not metadata.get("deletionGracePeriodSeconds")


T = TypeVar("T")


class TypedCalls(ObjectCalls):
    """Calls on objects that have records."""

    async def _typed(
        self, kind: ResourceKind, selection: Selection | None, read: Callable[[Row], T]
    ) -> tuple[T, ...]:
        """What a read makes of each object that is meant."""
        listed = await self.objects(kind, selection)
        try:
            return tuple(read(one) for one in listed.items)
        except UnexpectedAnswer as error:
            why = str(error)
        place = (selection or Selection()).namespace
        raise unexpected_answer(Request(method="GET", segments=kind_path(kind, place)), why)


class EvictionCalls(Calls):
    """`ports.kubernetes.eviction.Evictions` over a wire."""

    async def evict(
        self, namespace: str, name: str, how: EvictionOptions | None = None
    ) -> Evicted | EvictionBlocked:
        wish = how or EvictionOptions()
        options = DeleteOptions(uid=wish.uid, grace=wish.grace, dry_run=wish.dry_run)
        change = Change(
            method="POST",
            path=object_path(ObjectRef(kind=PODS, name=name, namespace=namespace), "eviction"),
            content={
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": namespace},
                "deleteOptions": delete_options(options),
            },
            dry_run=wish.dry_run,
        )
        try:
            await self._change(change, lambda row: row)
        except DisruptionBudgetExceeded as no:
            return EvictionBlocked(budget=no.budget, why=no.why, retry_after=no.retry_after)
        return Evicted()


class ScaleCalls(Calls):
    """`ports.kubernetes.scaling.Scaling` over a wire."""

    async def scale(self, ref: ObjectRef) -> Scale:
        return await self._read(object_path(ref, "scale"), _read_scale)

    async def set_scale(self, ref: ObjectRef, replicas: int) -> Scale:
        change = Change(
            method="PATCH",
            path=object_path(ref, "scale"),
            content={"spec": {"replicas": replicas}},
            content_type="application/merge-patch+json",
        )
        return await self._change(change, _read_scale)


def _read_scale(row: Row) -> Scale:
    return Scale(
        wanted=number(mapping(row, "spec"), "replicas"),
        there=number(mapping(row, "status"), "replicas"),
        version=text(mapping(row, "metadata"), "resourceVersion"),
    )
