"""A git repository that stockman commits rendered files to."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from stockman.model.record import record


@record
class RepositoryState:
    """Branch, commit and changed files of a repository."""

    branch: str | None
    """None: no branch is checked out (a detached HEAD)."""
    commit: str | None
    """None: no commit yet."""
    dirty: tuple[str, ...]
    """Changed files, staged or not, and untracked files that are not ignored."""


@record
class PushTarget:
    """Where a commit and a push would go, according to the local git."""

    below: str
    """Path of the directory below the top of the work tree. Empty: it is the top."""
    remote: str | None
    """The configured URL of the remote. None: no remote."""
    upstream: str
    """Remote and remote branch: `origin main`. Empty: no remote."""
    has_identity: bool
    """Whether git has the name and address of an author."""


@record
class TreeFile:
    """A file of a commit."""

    path: str
    """Relative to the top of the work tree."""
    object: str
    """Changes with the content."""
    is_executable: bool = False
    is_link: bool = False


@record
class Commit:
    """A commit."""

    name: str
    author: str
    """`Name <address>`."""
    at: datetime
    subject: str
    """The first line of its message."""


@record
class RemoteBranch:
    """A branch that another machine fetches, and how it logs in."""

    url: str
    branch: str
    key_files: tuple[str, ...] = ()
    """Possible files of the private SSH key, beside the configuration. Empty: anonymous."""
    known_hosts: str = ""
    """SSH host keys."""


class GitRepository(Protocol):
    """A work tree and its remote.

    Paths are relative to the top of the work tree. Methods raise `NotFound` (repository, remote,
    branch, commit or file), `Refused` (no identity, a detached HEAD, an unfinished merge),
    `Conflict` (others committed or pushed), `Denied`, `Unreachable` or `Rejected`.
    """

    async def state(self) -> RepositoryState:
        """Where the repository stands."""
        ...

    async def push_target(self) -> PushTarget:
        """Return where a commit and a push would go; does not contact the remote."""
        ...

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        """Commit the given files of the work tree, including deletions.

        Other changes, staged or not, are not committed. Hooks do not run. Returns the commit; None
        if nothing has changed. Raises `Refused` for ignored paths and paths outside of the work
        tree, and `Conflict` if the branch has moved.
        """
        ...

    async def push(self, branch: str = "") -> None:
        """Push the branch to its remote, without force; `branch`: as this branch of the remote."""
        ...

    async def fetch(self, branch: str = "") -> str | None:
        """Fetch the branch, or another `branch` of its remote; returns its commit.

        None: the remote branch does not exist.
        """
        ...

    async def read_remote(self, remote: RemoteBranch) -> str | None:
        """Return the commit of a remote branch. None: it does not exist.

        Only the given key is used. Raises `NotFound` if no key file exists here.
        """
        ...

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        """List the files of a commit below a folder, sorted by path; links are not followed."""
        ...

    async def read(self, commit: str, path: str) -> bytes:
        """Return the content of a file in a commit."""
        ...

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Commit, ...]:
        """List the commits up to `until` and after `since`, newest first.

        With a path, only those that changed the file. Without `since`, from the first commit on.
        """
        ...


class RenderedTree(Protocol):
    """A tree of rendered files.

    Methods raise `Refused` for an invalid configuration, or if the user must decide about files.
    """

    async def changed_files(self) -> tuple[str, ...]:
        """List the paths of files that differ from the rendered content, sorted."""
        ...

    async def render(self) -> None:
        """Write all rendered files, or none."""
        ...
