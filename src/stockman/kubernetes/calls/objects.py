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
    optional_text,
)
from stockman.kubernetes.transport import Request
from stockman.model.record import record

T = TypeVar("T")

_PAGE = 500
_MERGE = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_APPLY = "application/apply-patch+yaml"


@record
class _Page:
    items: tuple[Object, ...]
    version: str
    following: str
    """Empty: this is the last page."""


class ObjectCalls(Calls):
    """Objects calls."""

    async def get(self, ref: ObjectRef) -> Object:
        """Return an object; raises `NotFound`, or `Unsupported` if its kind is not served."""
        return await self._read(object_path(ref), require_metadata)

    async def objects(self, kind: ResourceKind, selection: Selection | None = None) -> ObjectList:
        """List objects page by page, all at one resource version."""
        selected = selection or Selection()
        try:
            return await self._list_pages(kind, selected, _PAGE)
        except Expired:
            return await self._list_pages(kind, selected, 0)

    async def create(self, kind: ResourceKind, content: Object, *, dry_run: bool = False) -> Object:
        """Create an object and return it; raises `AlreadyExists`."""
        path = kind_path(kind, _namespace_and_name(content)[0])
        change = Change(
            method="POST", path=path, content=_with_kind(kind, content), dry_run=dry_run
        )
        return await self._change(change, require_metadata)

    async def apply(self, kind: ResourceKind, request: ServerSideApply) -> Object:
        """Apply fields on the server side; creates the object if it does not exist."""
        change = Change(
            method="PATCH",
            path=object_path(_ref(kind, request.content), request.subresource),
            content=_with_kind(kind, request.content),
            content_type=_APPLY,
            manager=request.manager,
            dry_run=request.dry_run,
            more=(("force", "true" if request.force else "false"),),
        )
        return await self._change(change, require_metadata)

    async def replace(
        self, kind: ResourceKind, content: Object, *, dry_run: bool = False
    ) -> Object:
        """Replace an object; raises `Conflict` if its resourceVersion is not the newest."""
        path = object_path(_ref(kind, content))
        change = Change(method="PUT", path=path, content=_with_kind(kind, content), dry_run=dry_run)
        return await self._change(change, require_metadata)

    async def patch(self, ref: ObjectRef, patch: MergePatch | JsonPatch) -> Object:
        """Patch an object and return it."""
        merges = isinstance(patch, MergePatch)
        change = Change(
            method="PATCH",
            path=object_path(ref, patch.subresource),
            content=patch.changes if isinstance(patch, MergePatch) else [*patch.operations],
            content_type=_MERGE if merges else _JSON_PATCH,
            dry_run=patch.dry_run,
        )
        return await self._change(change, require_metadata)

    async def delete(self, ref: ObjectRef, options: DeleteOptions | None = None) -> bool:
        """Delete an object. False: deletion waits for finalizers or the grace period."""
        delete = options or DeleteOptions()
        change = Change(
            method="DELETE",
            path=object_path(ref),
            content=delete_options(delete),
            manager="",
            dry_run=delete.dry_run,
        )
        return await self._change(change, _is_gone)

    async def _list_pages(self, kind: ResourceKind, selection: Selection, size: int) -> ObjectList:
        """Read all pages of a list, all at the resource version of the first."""
        items: list[Object] = []
        version = following = ""
        while True:
            query = (*selection_query(selection), *((("limit", str(size)),) if size else ()))
            if following:
                query = (*query, ("continue", following))
            path = kind_path(kind, selection.namespace)
            page = await self._read(path, lambda row: _read_page(kind, row), query)
            items += page.items
            version = version or page.version
            if not page.following:
                return ObjectList(items=tuple(items), version=version)
            following = page.following


def selection_query(selection: Selection) -> tuple[tuple[str, str], ...]:
    """Return the query parameters of a selection."""
    parameters = (("labelSelector", selection.labels), ("fieldSelector", selection.fields))
    return tuple((name, value) for name, value in parameters if value)


def delete_options(options: DeleteOptions) -> Object:
    """Return the body of a delete request."""
    body: dict[str, object] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    candidates = {"uid": options.uid, "resourceVersion": options.version}
    preconditions = {name: value for name, value in candidates.items() if value}
    if preconditions:
        body["preconditions"] = preconditions
    if options.propagation is not None:
        body["propagationPolicy"] = options.propagation.value
    if options.grace is not None:
        body["gracePeriodSeconds"] = options.grace
    if options.dry_run:
        # The server ignores the query parameter `dryRun` of a DELETE with a body.
        body["dryRun"] = ["All"]
    return body


def _read_page(kind: ResourceKind, row: Row) -> _Page:
    metadata = mapping(row, "metadata")
    if not isinstance(row.get("items"), list):
        raise UnexpectedAnswer("items are missing")
    return _Page(
        items=tuple(_with_kind(kind, item) for item in mappings(row, "items")),
        version=optional_text(metadata, "resourceVersion"),
        following=optional_text(metadata, "continue"),
    )


def _with_kind(kind: ResourceKind, content: Object) -> Object:
    """Return an object with kind and apiVersion, which items of lists lack."""
    if "kind" in content and "apiVersion" in content:
        return content
    return {"apiVersion": kind.api_version, "kind": kind.name, **content}


def _namespace_and_name(content: Object) -> tuple[str, str]:
    metadata = content.get("metadata")
    fields: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    namespace, name = fields.get("namespace"), fields.get("name")
    return (
        namespace if isinstance(namespace, str) else "",
        name if isinstance(name, str) else "",
    )


def _ref(kind: ResourceKind, content: Object) -> ObjectRef:
    namespace, name = _namespace_and_name(content)
    return ObjectRef(kind=kind, name=name, namespace=namespace)


def _is_gone(row: Row) -> bool:
    """Return whether the reply to a deletion means that the object is gone."""
    if row.get("kind") == "Status":
        return True
    metadata = mapping(row, "metadata")
    if not optional_text(metadata, "deletionTimestamp"):
        return True
    waits = metadata.get("finalizers") or mapping(row, "spec").get("finalizers")
    return not waits and not metadata.get("deletionGracePeriodSeconds")


class TypedCalls(ObjectCalls):
    """Calls that list objects as records."""

    async def _list_records(
        self, kind: ResourceKind, selection: Selection | None, read: Callable[[Row], T]
    ) -> tuple[T, ...]:
        """List objects and parse each with `read`."""
        objects = await self.objects(kind, selection)
        try:
            return tuple(read(item) for item in objects.items)
        except UnexpectedAnswer as error:
            why = str(error)
        namespace = (selection or Selection()).namespace
        raise unexpected_answer(Request(method="GET", segments=kind_path(kind, namespace)), why)


class EvictionCalls(Calls):
    """Evictions calls."""

    async def evict(
        self, namespace: str, name: str, options: EvictionOptions | None = None
    ) -> Evicted | EvictionBlocked:
        """Evict a pod if its budget allows it. `Busy` refers to the server, not to budgets."""
        eviction = options or EvictionOptions()
        delete = DeleteOptions(uid=eviction.uid, grace=eviction.grace, dry_run=eviction.dry_run)
        change = Change(
            method="POST",
            path=object_path(ObjectRef(kind=PODS, name=name, namespace=namespace), "eviction"),
            content={
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": namespace},
                "deleteOptions": delete_options(delete),
            },
            dry_run=eviction.dry_run,
        )
        try:
            await self._change(change, lambda row: row)
        except DisruptionBudgetExceeded as error:
            return EvictionBlocked(
                budget=error.budget, why=error.why, retry_after=error.retry_after
            )
        return Evicted()


class ScaleCalls(Calls):
    """Scaling calls."""
