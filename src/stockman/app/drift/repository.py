"""Observe the repository: its state, remote commits, and who wrote which file."""

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
