"""Calls on objects of any kind."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.kubernetes.calls import Calls, Change, as_it_is
from stockman.kubernetes.paths import kind_path, object_path
from stockman.kubernetes.rows import OddAnswer, Row, part, parts, text, text_or_none
from stockman.model.record import record
from stockman.ports.kubernetes.errors import Expired
from stockman.ports.kubernetes.kinds import Kind, Ref
from stockman.ports.kubernetes.objects import (
    Application,
    Deletion,
    JsonPatch,
    Listed,
    MergePatch,
    Object,
    Selection,
)

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

    async def get(self, ref: Ref) -> Object:
        return await self._read(object_path(ref), as_it_is)

    async def objects(self, kind: Kind, selection: Selection | None = None) -> Listed:
        wanted = selection or Selection()
        try:
            return await self._paged(kind, wanted, _PAGE)
        except Expired:
            return await self._paged(kind, wanted, 0)

    async def create(self, kind: Kind, content: Object, *, dry_run: bool = False) -> Object:
        path = kind_path(kind, _place(content)[0])
        made = Change(method="POST", path=path, content=_named(kind, content), dry_run=dry_run)
        return await self._change(made, as_it_is)

    async def apply(self, kind: Kind, wish: Application) -> Object:
        change = Change(
            method="PATCH",
            path=object_path(_ref(kind, wish.content), wish.subresource),
            content=_named(kind, wish.content),
            content_type=_APPLY,
            manager=wish.manager,
            dry_run=wish.dry_run,
            more=(("force", "true" if wish.force else "false"),),
        )
        return await self._change(change, as_it_is)

    async def replace(self, kind: Kind, content: Object, *, dry_run: bool = False) -> Object:
        path = object_path(_ref(kind, content))
        made = Change(method="PUT", path=path, content=_named(kind, content), dry_run=dry_run)
        return await self._change(made, as_it_is)

    async def patch(self, ref: Ref, patch: MergePatch | JsonPatch) -> Object:
        merges = isinstance(patch, MergePatch)
        change = Change(
            method="PATCH",
            path=object_path(ref, patch.subresource),
            content=patch.changes if isinstance(patch, MergePatch) else [*patch.operations],
            content_type=_MERGE if merges else _JSON_PATCH,
            dry_run=patch.dry_run,
        )
        return await self._change(change, as_it_is)

    async def delete(self, ref: Ref, how: Deletion | None = None) -> bool:
        wish = how or Deletion()
        change = Change(
            method="DELETE",
            path=object_path(ref),
            content=delete_options(wish),
            manager="",
            dry_run=wish.dry_run,
        )
        return await self._change(change, _is_gone)

    async def _paged(self, kind: Kind, wanted: Selection, size: int) -> Listed:
        """All pages; whatever is changed in between is not seen."""
        items: list[Object] = []
        version = following = ""
        while True:
            query = (*selecting(wanted), *((("limit", str(size)),) if size else ()))
            if following:
                query = (*query, ("continue", following))
            path = kind_path(kind, wanted.namespace)
            page = await self._read(path, lambda row: _page(kind, row), query)
            items += page.items
            version = version or page.version
            if not page.following:
                return Listed(items=tuple(items), version=version)
            following = page.following


def selecting(wanted: Selection) -> tuple[tuple[str, str], ...]:
    """A selection as parameters."""
    found = (("labelSelector", wanted.labels), ("fieldSelector", wanted.fields))
    return tuple((name, value) for name, value in found if value)


def delete_options(wish: Deletion) -> Object:
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


def _page(kind: Kind, row: Row) -> _Page:
    metadata = part(row, "metadata")
    if not isinstance(row.get("items"), list):
        raise OddAnswer("items are not told")
    return _Page(
        items=tuple(_named(kind, one) for one in parts(row, "items")),
        version=text(metadata, "resourceVersion"),
        following=text_or_none(metadata, "continue"),
    )


def _named(kind: Kind, content: Object) -> Object:
    """An object that tells its kind: in lists they do not."""
    if "kind" in content and "apiVersion" in content:
        return content
    return {"apiVersion": kind.api_version, "kind": kind.name, **content}


def _place(content: Object) -> tuple[str, str]:
    metadata = content.get("metadata")
    told: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    namespace, name = told.get("namespace"), told.get("name")
    return (
        namespace if isinstance(namespace, str) else "",
        name if isinstance(name, str) else "",
    )


def _ref(kind: Kind, content: Object) -> Ref:
    namespace, name = _place(content)
    return Ref(kind=kind, name=name, namespace=namespace)


def _is_gone(row: Row) -> bool:
    """Whether what answers a deletion says that nothing is left to wait for."""
    if row.get("kind") == "Status":
        return True
    metadata = part(row, "metadata")
    if not text_or_none(metadata, "deletionTimestamp"):
        return True
    waits = metadata.get("finalizers") or part(row, "spec").get("finalizers")
    return not waits and not metadata.get("deletionGracePeriodSeconds")
