"""A git repository in memory, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime

from stockman.ports import repository_errors as refusals
from stockman.ports.repository import Commit, PushTarget, RemoteBranch, RepositoryState, TreeFile

Tree = dict[str, bytes]


@dataclass(frozen=True)
class MemoryCommit:
    """A commit."""

    name: str
    parent: str | None
    tree: Tree
    message: str
    author: str
    at: datetime


@dataclass
class MemoryRemote:
    """A remote that several repositories share."""

    commits: dict[str, MemoryCommit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    is_down: bool = False
    readable: frozenset[str] = frozenset()
    """Addresses that the deploy key can read."""
    address: str = "memory"


class MemoryRepo:
    """A repository in memory; `files` is the work tree, `staged` the changes in the index."""

    def __init__(self, remote: MemoryRemote | None = None, *, branch: str | None = "main") -> None:
        self.files: Tree = {}
        self.staged: dict[str, bytes | None] = {}
        self.ignored: set[str] = set()
        self.branch = branch
        self.has_identity = True
        self.below = ""
        self.author = "Shepherd <shepherd@example.com>"
        self.now = datetime.fromtimestamp(0, UTC)
        self.remote = remote
        self._commits: dict[str, MemoryCommit] = {}
        self._head: str | None = None

    async def state(self) -> RepositoryState:
        tree = self._tree
        index: dict[str, bytes | None] = {**tree, **self.staged}
        dirty = {path for path in index if self.files.get(path) != index[path]}
        dirty |= {path for path in self.files if path not in index and path not in self.ignored}
        dirty |= {path for path, content in self.staged.items() if tree.get(path) != content}
        return RepositoryState(branch=self.branch, commit=self._head, dirty=tuple(sorted(dirty)))

    async def push_target(self) -> PushTarget:
        address = self.remote.address if self.remote is not None else None
        return PushTarget(
            below=self.below,
            remote=address,
            upstream=f"origin {self.branch}" if self.remote is not None else "",
            has_identity=self.has_identity,
        )

    async def read_remote(self, remote: RemoteBranch) -> str | None:
        if self.remote is None or remote.url not in self.remote.readable:
            raise refusals.remote_access_error(remote.url, "Permission denied (publickey)")
        return self.remote.branches.get(remote.branch)

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        if self.branch is None:
            raise refusals.detached_head_error("memory")
        tree = dict(self._tree)
        for path in sorted(set(paths)):
            self._check(path)
            if path in self.files:
                tree[path] = self.files[path]
            else:
                tree.pop(path, None)
        if tree == self._tree:
            return None
        if not self.has_identity:
            raise refusals.missing_identity()
        text = repr((self._head, sorted(tree.items()), message))
        name = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self._commits[name] = MemoryCommit(name, self._head, tree, message, self.author, self.now)
        self._head = name
        for path in paths:
            self.staged.pop(path, None)
        return name

    async def push(self, branch: str = "") -> None:
        remote, own = self._require_remote()
        branch = branch or own
        if self._head is None:
            return
        remote_head = remote.branches.get(branch)
        if remote_head is not None and remote_head not in self._history():
            raise refusals.remote_ahead(branch, "the remote replies [rejected] (fetch first)")
        remote.commits |= {name: self._commits[name] for name in self._history()}
        remote.branches[branch] = self._head

    async def fetch(self, branch: str = "") -> str | None:
        remote, own = self._require_remote()
        branch = branch or own
        self._commits = {**remote.commits, **self._commits}
        return remote.branches.get(branch)

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        below = f"{folder.rstrip('/')}/" if folder else ""
        return tuple(
            TreeFile(path=path, object=hashlib.sha256(content).hexdigest())
            for path, content in sorted(self._commit_named(commit).tree.items())
            if path.startswith(below)
        )

    async def read(self, commit: str, path: str) -> bytes:
        content = self._commit_named(commit).tree.get(path)
        if content is None:
            raise refusals.unknown_commit(f"{commit}:{path}")
        return content

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Commit, ...]:
        known = set(self._history(self._commit_named(since).name)) if since else set()
        commits = []
        for name in self._history(self._commit_named(until).name):
            commit = self._commits[name]
            before = self._commits[commit.parent].tree if commit.parent is not None else {}
            if name in known or (path and before.get(path) == commit.tree.get(path)):
                continue
            subject = commit.message.partition("\n")[0]
            commits.append(Commit(name=name, author=commit.author, at=commit.at, subject=subject))
        return tuple(commits[:most])

    def clone(self) -> None:
        """Fetch everything and check out the newest commit of the remote."""
        if self.remote is None or self.branch not in self.remote.branches:
            return
        self._commits = dict(self.remote.commits)
        self._head = self.remote.branches[self.branch]
        self.files = dict(self._tree)

    @property
    def _tree(self) -> Tree:
        return self._commits[self._head].tree if self._head is not None else {}

    def _commit_named(self, name: str) -> MemoryCommit:
        commit_name = self._head if name in ("HEAD", self.branch) else name
        commit = self._commits.get(commit_name or "")
        if commit is None:
            raise refusals.unknown_commit(name)
        return commit

    def _history(self, newest: str | None = None) -> list[str]:
        """Return the names of commits from the newest to the first."""
        names: list[str] = []
        name = newest or self._head
        while name is not None:
            names.append(name)
            name = self._commits[name].parent
        return names

    def _require_remote(self) -> tuple[MemoryRemote, str]:
        if self.branch is None:
            raise refusals.detached_head_error("memory")
        if self.remote is None:
            raise refusals.missing_remote("it has no remote")
        if self.remote.is_down:
            raise refusals.unreachable_remote("origin", "connection refused")
        return self.remote, self.branch

    def _check(self, path: str) -> None:
        segments = path.split("/")
        if not all(segments) or {".", ".."} & set(segments):
            raise refusals.invalid_path(path, "it is not a normalized relative path")
        if ".git" in (segment.lower() for segment in segments):
            raise refusals.invalid_path(path, "it belongs to git")
        if any(file.startswith(f"{path}/") for file in self.files):
            raise refusals.invalid_path(path, "it is a directory")
        if path in self.ignored and path not in self._tree:
            raise refusals.invalid_path(path, "it is ignored by git")
