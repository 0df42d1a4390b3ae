"""A git repository that the product writes to: its own files, and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from stockman.model.record import record


@record
class RepositoryState:
    """Where a repository stands."""

    branch: str | None
    """None: no branch is checked out (a detached HEAD)."""
    commit: str | None
    """None: there is none yet."""
    dirty: tuple[str, ...]
    """Files that differ from the commit, staged or not, and new ones that are not ignored."""


@record
class PushTarget:
    """What a commit and a push would meet, as far as git on this machine knows."""

    below: str
    """Where the directory is below the top of the work tree. Empty: it is the top."""
    remote: str | None
    """The address that the branch would be pushed to, as it is configured. None: there is none."""
    upstream: str
    """Remote and branch there, as git takes them: `origin main`. Empty: there is no remote."""
    has_identity: bool
    """Whether git knows who commits."""


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
    """A commit: who made it, and when."""

    name: str
    author: str
    """`Name <address>`."""
    at: datetime
    subject: str
    """The first line of its message."""


class GitRepository(Protocol):
    """One work tree and its remote.

    Paths are relative to the top of the work tree. `NotFound`: no repository, remote, branch,
    commit or file. `Refused`: something has to be put right first, such as no identity, a detached
    HEAD or a merge that is not finished. `Conflict`: others committed or pushed meanwhile.
    `Denied`: the remote does not let us. `Unreachable`: nobody answered. `Rejected`: git or the
    remote refuse for a reason of their own.
    """

    async def state(self) -> RepositoryState:
        """Where the repository stands."""
        ...

    async def prospect(self) -> PushTarget:
        """What a commit and a push would meet; nobody but git here is asked."""
        ...

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        """Commit these files as they are in the work tree, removed ones as removed.

        Only these paths are in the commit; whatever else is staged or changed stays as it is. No
        hook runs. Returns the commit, None where nothing differs. `Refused`: a path is ignored or
        no file of the work tree. `Conflict`: the branch moved meanwhile.
        """
        ...

    async def push(self) -> None:
        """Push the branch to its remote, and only forward; nothing to push is fine."""
        ...

    async def fetch(self) -> str | None:
        """What the remote has; returns the commit of our branch there. None: no such branch."""
        ...

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        """Files of a commit below a folder, in the order of their paths; links are not followed."""
        ...

    async def read(self, commit: str, path: str) -> bytes:
        """A file as a commit has it."""
        ...

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Commit, ...]:
        """Commits that lead to one and not to the other, newest first.

        With a path, only those that changed the file. Empty `since`: from the first commit on.
        """
        ...


class RenderedTree(Protocol):
    """One rendered tree of files.

    `Refused`: the configuration has mistakes, or files wait for the user's decision.
    """

    async def differing(self) -> tuple[str, ...]:
        """Paths of files that are not as they would be rendered now, sorted."""
        ...

    async def render(self) -> None:
        """Write every file as it is rendered; all of them, or none."""
        ...
