"""Observe cluster objects that plans do not need completely."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stockman.assessment.drift.flux import FluxObject, is_compared
from stockman.config.writers.yaml_writer import strip_comments
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import Object, ObjectRef, ResourceKind
from stockman.model.errors import NotFound, Unsupported
from stockman.rendering.app_order import OrderedApp
from stockman.rendering.checks.objects import read_objects
from stockman.rendering.repository import RenderedRepository
from stockman.rendering.tree import FileTree, RenderedFile
from stockman.steps.kubernetes.objects import FLUX, object_name, text_at

_ROOT = "kubernetes/flux/"
_APPS = "kubernetes/apps/"
_TOP = "flux-system/flux-system"
_ALL_APPS = "flux-system/cluster-apps"
_AT_ONCE = 8


async def observe_objects(
    kubernetes: KubernetesClient, refs: Iterable[ObjectRef]
) -> dict[ObjectRef, Object]:
    """Return the objects that exist."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(ref: ObjectRef) -> Object | None:
        async with turns:
            try:
                return await kubernetes.get(ref)
            except NotFound:
                return None

    objects = tuple(refs)
    answers = await asyncio.gather(*(one(ref) for ref in objects))
    return {ref: answer for ref, answer in zip(objects, answers, strict=True) if answer is not None}


async def observe_flux_objects(kubernetes: KubernetesClient) -> dict[tuple[str, str, str], Object]:
    """Return all Flux objects by kind, namespace and name."""

    async def listed(kind: ResourceKind) -> tuple[Object, ...]:
        try:
            return (await kubernetes.objects(kind)).items
        except (Unsupported, NotFound):
            return ()

    lists = await asyncio.gather(*(listed(kind) for kind in FLUX))
    return {
        (
            kind.name,
            text_at(flux_object, "metadata", "namespace"),
            object_name(flux_object),
        ): flux_object
        for kind, objects in zip(FLUX, lists, strict=True)
        for flux_object in objects
    }


def build_flux_objects(
    rendered: RenderedRepository, pushed: Mapping[str, bytes | None]
) -> tuple[FluxObject, ...]:
    """Return the objects that Flux should apply; `pushed` holds files that differ in the pushed
    commit."""
    tree = FileTree()
    for file in rendered.tree:
        if not file.path.startswith((_ROOT, _APPS)) or file.is_secret:
            continue
        if file.path not in pushed:
            tree.add(file)
        elif (pushed_content := pushed[file.path]) is not None:
            text = pushed_content.decode(errors="replace")
            tree.add(RenderedFile(path=file.path, owner=file.owner, text=text))
    placed = {file.directory: file for file in rendered.apps}
    flux_objects: list[FluxObject] = []
    for library_file in read_objects(tree, {}):
        content = strip_comments(library_file.content)
        if isinstance(content, dict) and is_compared(content):
            flux_object = _flux_object(library_file.path, content, placed)
            if flux_object is not None:
                flux_objects.append(flux_object)
    return tuple(flux_objects)


def _flux_object(path: str, content: Object, placed: Mapping[str, OrderedApp]) -> FluxObject | None:
    """Return the object with its Kustomization and namespace. None: it is not applied yet."""
    own = text_at(content, "metadata", "namespace")
    if path.startswith(_ROOT):
        return FluxObject(content=content, namespace=own, owner=_TOP, file=path)
    folder = path.rpartition("/")[0]
    app = placed.get(folder)
    space = path.removeprefix(_APPS).partition("/")[0]
    if app is None:
        return FluxObject(content=content, namespace=own or space, owner=_ALL_APPS, file=path)
    if app.app.pending:
        return None
    owner = f"{space}/{app.app.name}"
    namespace = own if app.app.scattered else app.app.namespace
    return FluxObject(content=content, namespace=namespace, owner=owner, file=path)
