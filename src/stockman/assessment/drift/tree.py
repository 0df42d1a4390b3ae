"""Drift of rendered files: on disk, in the commit, and at the remote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from stockman.assessment.drift.report import (
    Author,
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Layer,
)
from stockman.model.record import record
from stockman.ports.repository import Commit, RepositoryState
from stockman.rendering.managed_files import FileAction, FileChange, file_difference
from stockman.steps.repository import REPOSITORY_PATHS, files_to_commit

RENDER = "access/render"
_MOST_LINES = 20
_SHORT = 12
_FEW = 4
_DESCRIPTIONS = {
    FileAction.CREATE: "is not on disk",
    FileAction.UPDATE: "is not as it would be rendered now",
    FileAction.EDITED: "was changed by hand",
    FileAction.FOREIGN: "is not stockman's, and stands where a rendered file should",
    FileAction.STALE: "is not rendered any more",
    FileAction.REMOVE: "is not rendered any more",
}


@record
class TreeSide:
    """Rendered files and the state of their repository."""

    actions: tuple[FileChange, ...] = field(metadata={"shown": False})
    branch: str
    """The branch that the cluster follows."""
    state: RepositoryState
    remote: str | None
    """The newest commit of the branch at the remote. None: the branch does not exist there."""
    ahead: tuple[Commit, ...] = ()
    """Local commits that the remote lacks."""
    behind: tuple[Commit, ...] = ()
    """Remote commits that the local branch lacks."""
    changed_remotely: Mapping[str, Commit | None] = field(default_factory=dict)
    """Rendered files changed by remote commits, each with the newest such commit."""
    last_commits: Mapping[str, Commit | None] = field(default_factory=dict)
    """The last commit of each differing file; the empty name stands for the configuration."""

    @property
    def differing(self) -> tuple[FileChange, ...]:
        return tuple(action for action in self.actions if action.act in _DESCRIPTIONS)


def tree_drifts(side: TreeSide) -> Iterator[Drift]:
    """Return every difference between the rendered files and the pushed commit."""
    for action in side.differing:
        yield _file(side, action)
    if side.state.branch != side.branch:
        yield _other_branch(side)
        return
    yield from _report_uncommitted(side)
    yield from _remote(side)


def _file(side: TreeSide, action: FileChange) -> Drift:
    lines = tuple(file_difference(action))
    more = (f"and {len(lines) - _MOST_LINES} more lines",) if len(lines) > _MOST_LINES else ()
    by_plan = action.act in (FileAction.CREATE, FileAction.UPDATE)
    return Drift(
        layer=Layer.TREE,
        subject=action.path,
        description=f"{action.path} {_DESCRIPTIONS[action.act]}",
        details=(*lines[:_MOST_LINES], *more),
        author=_writer(side, action),
        severity=DriftSeverity.NOTICE if action.after is None else DriftSeverity.WARNING,
        correction=Correction(command=_decision(action)),
        claims=(RENDER,) if by_plan else (),
    )


def _decision(action: FileChange) -> str:
    if action.act in (FileAction.EDITED, FileAction.FOREIGN):
        return (
            f"stockman render --overwrite {action.path}; to keep it: stockman render"
            f" --accept {action.path}"
        )
    if action.act is FileAction.STALE:
        return "stockman render --prune"
    return "stockman render"


def _writer(side: TreeSide, action: FileChange) -> Author:
    if action.act is FileAction.UPDATE:
        return _of_commit(side.last_commits.get(""), "commit of the configuration")
    if action.path in side.state.dirty:
        return Author(how="it is not committed, so nobody tells who changed it")
    return _of_commit(side.last_commits.get(action.path), "commit")


def _of_commit(commit: Commit | None, how: str) -> Author:
    if commit is None:
        return Author(how="no commit tells")
    description = f"{how} {commit.name[:_SHORT]}: {commit.subject}"
    return Author(name=commit.author, when=commit.at, how=description)


def _other_branch(side: TreeSide) -> Drift:
    return Drift(
        layer=Layer.TREE,
        subject="git",
        description="another branch is checked out than the cluster follows",
        values=(DriftValue(key="branch", observed=side.state.branch, desired=side.branch),),
        correction=Correction(command=f"git switch {side.branch}"),
    )


def _report_uncommitted(side: TreeSide) -> Iterator[Drift]:
    reported = {action.path for action in side.differing}
    left = [path for path in files_to_commit(side.state, REPOSITORY_PATHS) if path not in reported]
    if left:
        yield Drift(
            layer=Layer.TREE,
            subject="git",
            description=_count(len(left), "file is not committed", "files are not committed"),
            values=tuple(
                DriftValue(key=path, observed="changed", desired="committed") for path in left
            ),
            author=Author(how="it is not committed, so nobody tells who changed it"),
            correction=Correction(
                command=f"git add {' '.join(_places(left))} && git commit && git push"
                " (or stockman apply --push)"
            ),
        )


def _count(count: int, singular: str, several: str) -> str:
    return f"{count} {singular if count == 1 else several}"


def _places(paths: list[str]) -> list[str]:
    """List a few files by name, and many by folder."""
    if len(paths) <= _FEW:
        return paths
    return sorted({path.partition("/")[0] for path in paths})


def _remote(side: TreeSide) -> Iterator[Drift]:
    if side.remote == side.state.commit:
        return
    if side.behind:
        yield _foreign_commits(side)
    if side.ahead or side.remote is None:
        yield Drift(
            layer=Layer.TREE,
            subject="git",
            description=_count(len(side.ahead), "commit is not pushed", "commits are not pushed"),
            values=(_commits(side),),
            author=_of_commit(side.ahead[0] if side.ahead else None, "commit"),
            correction=Correction(command=f"git push origin {side.branch}"),
        )


def _foreign_commits(side: TreeSide) -> Drift:
    """Report remote commits; those that change rendered files change the cluster."""
    files = tuple(
        DriftValue(key=path, observed=_describe_commit(commit), desired="as rendered")
        for path, commit in sorted(side.changed_remotely.items())
    )
    newest = next(
        (commit for commit in side.changed_remotely.values() if commit is not None), side.behind[0]
    )
    first = side.changed_remotely[files[0].key] if files else newest
    description = f"others pushed {len(side.behind)} commits"
    return Drift(
        layer=Layer.TREE,
        subject="git",
        description=f"{description} that change rendered files" if files else description,
        values=files or (_commits(side),),
        details=tuple(
            f"{commit.name[:_SHORT]} {commit.author}: {commit.subject}" for commit in side.behind
        ),
        author=_of_commit(first or newest, "commit"),
        severity=DriftSeverity.WARNING if files else DriftSeverity.NOTICE,
        correction=Correction(command="git pull --rebase; then stockman drift --layer tree"),
    )


def _describe_commit(commit: Commit | None) -> str:
    return "changed" if commit is None else f"changed by {commit.name[:_SHORT]}"


def _commits(side: TreeSide) -> DriftValue:
    local_commit = side.state.commit[:_SHORT] if side.state.commit else None
    remote_commit = side.remote[:_SHORT] if side.remote else None
    return DriftValue(key="commit at the remote", observed=remote_commit, desired=local_commit)
