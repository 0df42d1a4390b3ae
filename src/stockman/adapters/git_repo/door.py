"""`ports.repo.Repo` by the git program."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path

from stockman.adapters.git_repo.commits import made_commit
from stockman.adapters.git_repo.program import Git, complaint
from stockman.adapters.git_repo.remotes import failed, pushed, settings, upstream
from stockman.model.errors import NotFound
from stockman.ports import repo_refusals as refusals
from stockman.ports.repo import Committed, Prospect, RepoState, TreeFile

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_COMMIT = "--format=%H%x00%an <%ae>%x00%at%x00%s%x00"
_FIELDS = 4
_DETACHED, _UNBORN = "(detached)", "(initial)"
_BEFORE_PATH = {"1": 8, "u": 10, "?": 1}
"""How many words stand before the path in a line of `git status`, by its first."""
_LINK, _EXECUTABLE, _REPOSITORY = "120000", "100755", "160000"


class GitRepo:
    """`ports.repo.Repo` by the git program, for the work tree that a directory is in."""

    def __init__(
        self,
        directory: Path,
        *,
        program: str = "git",
        patience: float = 30.0,
        remote_patience: float = 300.0,
    ) -> None:
        """`patience` is how many seconds git may take, `remote_patience` where others answer."""
        self._start = Git(directory, program=program, patience=patience)
        self._program = program
        self._patience = patience
        self._remote_patience = remote_patience
        self._top: Path | None = None

    async def state(self) -> RepoState:
        git = await self._git()
        listed = await git.told(
            *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z"),
            *("--untracked-files=all", "--no-renames"),
        )
        lines = [one for one in listed.split("\0") if one]
        told = dict(one[2:].split(" ", 1) for one in lines if one.startswith("# "))
        return RepoState(
            branch=_unless(_DETACHED, told.get("branch.head", _DETACHED)),
            commit=_unless(_UNBORN, told.get("branch.oid", _UNBORN)),
            dirty=tuple(sorted(filter(None, map(_changed_path, lines)))),
        )

    async def prospect(self) -> Prospect:
        git = await self._git()
        below = await self._start.told("rev-parse", "--show-prefix")
        known = await git.run("var", "GIT_COMMITTER_IDENT")
        remotes = await settings(git)
        try:
            to = upstream(remotes, await self._branch(git) or "")
        except NotFound:
            to = None
        return Prospect(
            below=below.strip().rstrip("/"),
            remote=(remotes.get(f"remote.{to.remote}.url") or None) if to is not None else None,
            upstream=f"{to.remote} {to.branch}" if to is not None else "",
            has_identity=known.status == 0,
        )

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        git = await self._git()
        branch = await self._branch(git)
        if branch is None:
            raise refusals.detached(str(git.directory))
        return await made_commit(git, branch, await self._head(git), paths, message)

    async def push(self) -> None:
        git = await self._git(remote=True)
        branch = await self._needed_branch(git)
        to = upstream(await settings(git), branch)
        if await self._head(git) is None:
            return
        said = await git.run(
            *("push", "--porcelain", "--no-verify", "--no-follow-tags", "--"),
            *(to.remote, f"refs/heads/{branch}:refs/heads/{to.branch}"),
        )
        trouble = pushed(f"{to.remote} {to.branch}", said)
        if trouble is not None:
            raise trouble

    async def fetch(self) -> str | None:
        git = await self._git(remote=True)
        to = upstream(await settings(git), await self._needed_branch(git))
        said = await git.run(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
            *("--", to.remote, f"+refs/heads/{to.branch}:{to.tracking}"),
        )
        if said.status != 0:
            if "couldn't find remote ref" in said.complaint:
                return None
            raise failed(f"{to.remote} {to.branch}", said)
        return (await git.told("rev-parse", "--verify", to.tracking)).strip()

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        git = await self._git()
        within = ["--", f"{folder.rstrip('/')}/"] if folder else []
        found = await self._commit(git, commit)
        listed = await git.told(
            "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", found, *within
        )
        files = (_tree_file(line) for line in listed.split("\0") if line)
        return tuple(sorted((one for one in files if one is not None), key=lambda one: one.path))

    async def read(self, commit: str, path: str) -> bytes:
        git = await self._git()
        said = await git.run("cat-file", "blob", f"{await self._commit(git, commit)}:{path}")
        if said.status != 0:
            raise refusals.no_commit(f"{commit}:{path}")
        return said.output

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Committed, ...]:
        git = await self._git()
        wanted = [await self._commit(git, until)]
        if since:
            wanted.append(f"^{await self._commit(git, since)}")
        within = ["--", path] if path else []
        listed = await git.told(
            *("--literal-pathspecs", "log", "-z", f"--max-count={most}", _COMMIT),
            *(*wanted, *within),
        )
        return tuple(_committed(listed))

    async def _git(self, *, remote: bool = False) -> Git:
        """Git at the top of the work tree."""
        if self._top is None:
            said = await self._start.run("rev-parse", "--show-toplevel")
            if said.status != 0:
                if "not a git repository" in said.complaint or "work tree" in said.complaint:
                    raise refusals.no_repository(str(self._start.directory))
                raise refusals.rejected(str(self._start.directory), complaint(said))
            self._top = Path(said.text.removesuffix("\n"))
        patience = self._remote_patience if remote else self._patience
        return Git(self._top, program=self._program, patience=patience)

    async def _branch(self, git: Git) -> str | None:
        said = await git.run("symbolic-ref", "--quiet", "--short", "HEAD")
        return said.text.strip() or None

    async def _needed_branch(self, git: Git) -> str:
        branch = await self._branch(git)
        if branch is None:
            raise refusals.detached(str(git.directory))
        return branch

    async def _head(self, git: Git) -> str | None:
        said = await git.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        return said.text.strip() or None

    async def _commit(self, git: Git, revision: str) -> str:
        if not _REVISION.fullmatch(revision):
            raise refusals.no_commit(revision)
        said = await git.run("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
        if said.status != 0:
            raise refusals.no_commit(revision)
        return said.text.strip()


def _unless(nothing: str, told: str) -> str | None:
    return None if told == nothing else told


def _changed_path(line: str) -> str:
    """The path that a line of `git status` is about. Empty: it is about none."""
    words = _BEFORE_PATH.get(line[:1])
    return line.split(" ", words)[-1] if words is not None else ""


def _committed(listed: str) -> Iterator[Committed]:
    """Commits in the form of `_COMMIT`; each ends with an empty field of its own."""
    fields = listed.split("\0")
    for at in range(0, len(fields) - _FIELDS, _FIELDS + 1):
        name, author, seconds, subject = fields[at : at + _FIELDS]
        moment = datetime.fromtimestamp(int(seconds), UTC)
        yield Committed(name=name, author=author, at=moment, subject=subject)


def _tree_file(line: str) -> TreeFile | None:
    """A line of a tree. None: a repository within, of which only the name of a commit is known."""
    facts, _, path = line.partition("\t")
    mode, _, name = facts.split(" ")
    if mode == _REPOSITORY:
        return None
    return TreeFile(
        path=path, object=name, is_executable=mode == _EXECUTABLE, is_link=mode == _LINK
    )
