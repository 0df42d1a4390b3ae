"""One look at the repository: where it stands, what others pushed, and who wrote what."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.assessment.drift.tree import TreeSide
from stockman.model.errors import NotFound
from stockman.ports.repository import Commit, GitRepository
from stockman.rendering.managed_files import FileAction, FileChange

_CONFIGURATION = ("cluster.yaml", "nodes.yaml", "cluster.toml")
_WRITTEN = (FileAction.EDITED, FileAction.FOREIGN, FileAction.STALE)


async def observe_repository(
    repo: GitRepository, branch: str, actions: tuple[FileChange, ...]
) -> TreeSide:
    """Everything that is known of the rendered files; only what the remote has is fetched."""
    state = await repo.state()
    remote = await repo.fetch() if state.branch == branch else None
    here = state.commit
    ahead: tuple[Commit, ...] = ()
    behind: tuple[Commit, ...] = ()
    if here is not None and remote != here:
        ahead = await repo.commits(here, since=remote or "")
        behind = await repo.commits(remote, since=here) if remote is not None else ()
    return TreeSide(
        actions=actions,
        branch=branch,
        state=state,
        remote=remote,
        ahead=ahead,
        behind=behind,
        changed_there=await _changed_remotely(repo, here, remote, actions) if behind else {},
        written=await _last_commits(repo, here, actions),
    )


async def _changed_remotely(
    repo: GitRepository, here: str | None, remote: str | None, actions: Iterable[FileChange]
) -> dict[str, Commit | None]:
    """Rendered files that commits of others changed."""
    if here is None or remote is None:
        return {}
    ours = {one.path for one in actions}
    found: dict[str, Commit | None] = {}
    for path in await differing_paths(repo, here, remote):
        last = await repo.commits(remote, since=here, path=path, most=1) if path in ours else ()
        if last:
            found[path] = last[0]
    return found


async def differing_paths(repo: GitRepository, one: str, other: str) -> tuple[str, ...]:
    """Files that two commits do not have alike."""
    first = {file.path: file.object for file in await repo.tree(one)}
    second = {file.path: file.object for file in await repo.tree(other)}
    return tuple(sorted(path for path in {*first, *second} if first.get(path) != second.get(path)))


async def differing_in_push(repo: GitRepository, side: TreeSide) -> dict[str, bytes | None]:
    """Rendered files that the pushed commit does not have as they are rendered, as it has them."""
    if side.remote is None:
        return {}
    paths = {one.path for one in side.differing} | set(side.state.dirty)
    if side.state.commit is not None and side.state.commit != side.remote:
        paths |= set(await differing_paths(repo, side.state.commit, side.remote))
    found: dict[str, bytes | None] = {}
    for path in sorted(paths & {one.path for one in side.actions}):
        try:
            found[path] = await repo.read(side.remote, path)
        except NotFound:
            found[path] = None
    return found


async def _last_commits(
    repo: GitRepository, here: str | None, actions: Iterable[FileChange]
) -> dict[str, Commit | None]:
    """The last commits of files that somebody changed, and of the configuration."""
    if here is None:
        return {}
    found: dict[str, Commit | None] = {}
    for action in actions:
        if action.act in _WRITTEN:
            found[action.path] = next(
                iter(await repo.commits(here, path=action.path, most=1)), None
            )
    if any(action.act is FileAction.UPDATE for action in actions):
        every = [
            one for path in _CONFIGURATION for one in await repo.commits(here, path=path, most=1)
        ]
        found[""] = max(every, key=lambda one: one.at, default=None)
    return found
