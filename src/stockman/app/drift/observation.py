"""Observe what drift is compared with: cluster objects and the repository."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stockman.assessment.drift.flux import FluxObject, is_compared
from stockman.assessment.drift.tree import TreeSide
from stockman.config.writers.yaml_writer import strip_comments
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import Object, ObjectRef, ResourceKind
from stockman.model.errors import NotFound, Unsupported
from stockman.ports.repository import Commit, GitRepository
from stockman.rendering.applications import OrderedApp
from stockman.rendering.checks.objects import read_objects
from stockman.rendering.managed_files import FileAction, FileChange
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


_CONFIGURATION = ("cluster.yaml", "nodes.yaml", "cluster.toml")
_WRITTEN = (FileAction.EDITED, FileAction.FOREIGN, FileAction.STALE)


async def observe_repository(
    repo: GitRepository, branch: str, actions: tuple[FileChange, ...]
) -> TreeSide:
    """Return everything known of the rendered files, after a fetch."""
    state = await repo.state()
    remote = await repo.fetch() if state.branch == branch else None
    commit = state.commit
    ahead: tuple[Commit, ...] = ()
    behind: tuple[Commit, ...] = ()
    if commit is not None and remote != commit:
        ahead = await repo.commits(commit, since=remote or "")
        behind = await repo.commits(remote, since=commit) if remote is not None else ()
    return TreeSide(
        actions=actions,
        branch=branch,
        state=state,
        remote=remote,
        ahead=ahead,
        behind=behind,
        changed_remotely=await _find_remote_changes(repo, commit, remote, actions)
        if behind
        else {},
        last_commits=await _last_commits(repo, commit, actions),
    )


async def _find_remote_changes(
    repo: GitRepository, commit: str | None, remote: str | None, actions: Iterable[FileChange]
) -> dict[str, Commit | None]:
    """Return rendered files that remote commits changed."""
    if commit is None or remote is None:
        return {}
    ours = {action.path for action in actions}
    changed: dict[str, Commit | None] = {}
    for path in await differing_paths(repo, commit, remote):
        last = await repo.commits(remote, since=commit, path=path, most=1) if path in ours else ()
        if last:
            changed[path] = last[0]
    return changed


async def differing_paths(repo: GitRepository, left: str, right: str) -> tuple[str, ...]:
    """Return files that differ between two commits."""
    first = {file.path: file.object for file in await repo.tree(left)}
    second = {file.path: file.object for file in await repo.tree(right)}
    return tuple(sorted(path for path in {*first, *second} if first.get(path) != second.get(path)))


async def differing_in_push(repo: GitRepository, side: TreeSide) -> dict[str, bytes | None]:
    """Return rendered files that differ in the pushed commit, with their content there."""
    if side.remote is None:
        return {}
    paths = {action.path for action in side.differing} | set(side.state.dirty)
    if side.state.commit is not None and side.state.commit != side.remote:
        paths |= set(await differing_paths(repo, side.state.commit, side.remote))
    differing: dict[str, bytes | None] = {}
    for path in sorted(paths & {action.path for action in side.actions}):
        try:
            differing[path] = await repo.read(side.remote, path)
        except NotFound:
            differing[path] = None
    return differing


async def _last_commits(
    repo: GitRepository, commit: str | None, actions: Iterable[FileChange]
) -> dict[str, Commit | None]:
    """Return the last commits of changed files and of the configuration."""
    if commit is None:
        return {}
    commits: dict[str, Commit | None] = {}
    for action in actions:
        if action.act in _WRITTEN:
            commits[action.path] = next(
                iter(await repo.commits(commit, path=action.path, most=1)), None
            )
    if any(action.act is FileAction.UPDATE for action in actions):
        every = [
            candidate
            for path in _CONFIGURATION
            for candidate in await repo.commits(commit, path=path, most=1)
        ]
        commits[""] = max(every, key=lambda candidate: candidate.at, default=None)
    return commits
