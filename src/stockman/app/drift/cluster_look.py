"""One look at the objects of a cluster that plans do not need in full."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stockman.app.drift.followed import FollowedObject, is_compared
from stockman.config.noted import bare
from stockman.model.errors import NotFound, Unsupported
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import Kind, Ref
from stockman.ports.kubernetes.objects import Object
from stockman.rendering.arrangement import Placed
from stockman.rendering.checks.objects import library
from stockman.rendering.repository import Rendered
from stockman.rendering.tree import FileTree, RenderedFile
from stockman.steps.kube_kinds import FLUX
from stockman.steps.kube_reading import name_of, text

_ROOT = "kubernetes/flux/"
_APPS = "kubernetes/apps/"
_TOP = "flux-system/flux-system"
_ALL_APPS = "flux-system/cluster-apps"
_AT_ONCE = 8


async def objects_there(kubernetes: Kubernetes, refs: Iterable[Ref]) -> dict[Ref, Object]:
    """Those of the objects that are there."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(ref: Ref) -> Object | None:
        async with turns:
            try:
                return await kubernetes.get(ref)
            except NotFound:
                return None

    wanted = tuple(refs)
    found = await asyncio.gather(*(one(ref) for ref in wanted))
    return {ref: there for ref, there in zip(wanted, found, strict=True) if there is not None}


async def flux_there(kubernetes: Kubernetes) -> dict[tuple[str, str, str], Object]:
    """Everything that Flux works with, by kind, namespace and name."""

    async def listed(kind: Kind) -> tuple[Object, ...]:
        try:
            return (await kubernetes.objects(kind)).items
        except (Unsupported, NotFound):
            return ()

    lists = await asyncio.gather(*(listed(kind) for kind in FLUX))
    return {
        (kind.name, text(one, "metadata", "namespace"), name_of(one)): one
        for kind, found in zip(FLUX, lists, strict=True)
        for one in found
    }


def followed_objects(
    rendered: Rendered, pushed: Mapping[str, bytes | None]
) -> tuple[FollowedObject, ...]:
    """What Flux is to apply; `pushed` has files that are otherwise, or not, in the commit."""
    tree = FileTree()
    for file in rendered.tree:
        if not file.path.startswith((_ROOT, _APPS)) or file.is_secret:
            continue
        if file.path not in pushed:
            tree.add(file)
        elif (told := pushed[file.path]) is not None:
            words = told.decode(errors="replace")
            tree.add(RenderedFile(path=file.path, owner=file.owner, text=words))
    placed = {one.directory: one for one in rendered.apps}
    found: list[FollowedObject] = []
    for one in library(tree, {}):
        content = bare(one.content)
        if isinstance(content, dict) and is_compared(content):
            made = _followed(one.path, content, placed)
            if made is not None:
                found.append(made)
    return tuple(found)


def _followed(path: str, content: Object, placed: Mapping[str, Placed]) -> FollowedObject | None:
    """Which Kustomization applies an object, and where. None: one that is to wait."""
    own = text(content, "metadata", "namespace")
    if path.startswith(_ROOT):
        return FollowedObject(content=content, namespace=own, owner=_TOP, file=path)
    folder = path.rpartition("/")[0]
    app = placed.get(folder)
    space = path.removeprefix(_APPS).partition("/")[0]
    if app is None:
        return FollowedObject(content=content, namespace=own or space, owner=_ALL_APPS, file=path)
    if app.app.pending:
        return None
    owner = f"{space}/{app.app.name}"
    place = own if app.app.scattered else app.app.namespace
    return FollowedObject(content=content, namespace=place, owner=owner, file=path)
