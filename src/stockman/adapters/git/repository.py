"""Commits of some files, made beside the index: what others staged is neither seen nor lost."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from stockman.adapters.git.command import GitCommand, error_text
from stockman.adapters.git.remotes import find_upstream, push_error, read_settings, remote_error
from stockman.model.errors import NotFound
from stockman.ports import repository_errors as refusals
from stockman.ports.repository import Commit, PushTarget, RepositoryState, TreeFile

_NO_OBJECT = "0" * 40
_NONE_IGNORED = 1
"""What `check-ignore` ends with then."""
_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}
_NO_IDENTITY = (
    "tell me who you are",
    "no name was given",
    "no email was given",
    "empty ident name",
)


async def create_commit(
    git: GitCommand, branch: str, head: str | None, paths: Collection[str], message: str
) -> str | None:
    """A commit of paths on top of a branch. None: nothing differs."""
    wanted = sorted(set(paths))
    await _check_paths(git, wanted)
    listed = b"".join(os.fsencode(path) + b"\0" for path in wanted)
    with tempfile.TemporaryDirectory(prefix="stockman-") as scratch:
        aside = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        await git.told("read-tree", *([head] if head else ["--empty"]), variables=aside)
        await _update_index(git, listed, aside)
        tree = (await git.told("write-tree", variables=aside)).strip()
    if head is not None and tree == (await git.told("rev-parse", f"{head}^{{tree}}")).strip():
        return None
    if head is None and not (await git.told("ls-tree", tree)):
        return None
    made = await _write_commit(git, tree, head, message)
    # The index first: an interruption in between leaves files staged, and nothing undone.
    await _update_index(git, listed, {"GIT_OPTIONAL_LOCKS": "1"})
    said = await git.run(
        *("update-ref", "-m", f"commit: {message.partition(chr(10))[0]}"),
        *(f"refs/heads/{branch}", made, head or _NO_OBJECT),
    )
    if said.status != 0:
        raise refusals.concurrent_commit(branch)
    return made


async def _write_commit(git: GitCommand, tree: str, head: str | None, message: str) -> str:
    parents = ["-p", head] if head else []
    said = await git.run("commit-tree", *parents, "-F", "-", tree, given=f"{message}\n".encode())
    if said.status != 0:
        if any(sign in said.complaint for sign in _NO_IDENTITY):
            raise refusals.missing_identity()
        raise refusals.git_error("git commit-tree", error_text(said))
    return said.text.strip()


async def _update_index(git: GitCommand, listed: bytes, variables: dict[str, str]) -> None:
    await git.told(
        *("update-index", "--add", "--remove", "-z", "--stdin"), given=listed, variables=variables
    )


async def _check_paths(git: GitCommand, paths: list[str]) -> None:
    """Refuse paths that are no files of the work tree, and states that a commit would mix with."""
    for name, what in _OPERATIONS.items():
        found = (await git.told("rev-parse", "--git-path", name)).strip()
        if (git.directory / found).exists():
            raise refusals.unfinished_operation(what)
    for path in paths:
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path:
            raise refusals.invalid_path(path, "it is not written as git writes paths")
        if ".git" in (part.lower() for part in pure.parts):
            raise refusals.invalid_path(path, "it belongs to git itself")
        place = git.directory / path
        if place.is_dir() and not place.is_symlink():
            raise refusals.invalid_path(path, "it is a directory")
        for parent in pure.parents:
            if (git.directory / parent).is_symlink():
                raise refusals.invalid_path(path, "it is behind a link")
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    # Without `--no-index`, a file in the index does not count as ignored.
    ignored = await git.run("check-ignore", "-z", "--stdin", given=listed)
    if ignored.status > _NONE_IGNORED:
        raise refusals.git_error("git check-ignore", error_text(ignored))
    for path in ignored.text.split("\0"):
        if path:
            raise refusals.invalid_path(path, "it is ignored, so it is not for everybody to see")


_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_COMMIT = "--format=%H%x00%an <%ae>%x00%at%x00%s%x00"
_FIELDS = 4
_DETACHED, _UNBORN = "(detached)", "(initial)"
_BEFORE_PATH = {"1": 8, "u": 10, "?": 1}
"""How many words stand before the path in a line of `git status`, by its first."""
_LINK, _EXECUTABLE, _REPOSITORY = "120000", "100755", "160000"


class LocalGitRepository:
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
        self._start = GitCommand(directory, program=program, patience=patience)
        self._program = program
        self._patience = patience
        self._remote_patience = remote_patience
        self._top: Path | None = None

    async def state(self) -> RepositoryState:
        git = await self._git()
        listed = await git.told(
            *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z"),
            *("--untracked-files=all", "--no-renames"),
        )
        lines = [one for one in listed.split("\0") if one]
        told = dict(one[2:].split(" ", 1) for one in lines if one.startswith("# "))
        return RepositoryState(
            branch=_unless_empty(_DETACHED, told.get("branch.head", _DETACHED)),
            commit=_unless_empty(_UNBORN, told.get("branch.oid", _UNBORN)),
            dirty=tuple(sorted(filter(None, map(_parse_status_path, lines)))),
        )

    async def prospect(self) -> PushTarget:
        git = await self._git()
        below = await self._start.told("rev-parse", "--show-prefix")
        known = await git.run("var", "GIT_COMMITTER_IDENT")
        remotes = await read_settings(git)
        try:
            to = find_upstream(remotes, await self._branch(git) or "")
        except NotFound:
            to = None
        return PushTarget(
            below=below.strip().rstrip("/"),
            remote=(remotes.get(f"remote.{to.remote}.url") or None) if to is not None else None,
            upstream=f"{to.remote} {to.branch}" if to is not None else "",
            has_identity=known.status == 0,
        )

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        git = await self._git()
        branch = await self._branch(git)
        if branch is None:
            raise refusals.detached_head_error(str(git.directory))
        return await create_commit(git, branch, await self._head(git), paths, message)

    async def push(self) -> None:
        git = await self._git(remote=True)
        branch = await self._needed_branch(git)
        to = find_upstream(await read_settings(git), branch)
        if await self._head(git) is None:
            return
        said = await git.run(
            *("push", "--porcelain", "--no-verify", "--no-follow-tags", "--"),
            *(to.remote, f"refs/heads/{branch}:refs/heads/{to.branch}"),
        )
        trouble = push_error(f"{to.remote} {to.branch}", said)
        if trouble is not None:
            raise trouble

    async def fetch(self) -> str | None:
        git = await self._git(remote=True)
        to = find_upstream(await read_settings(git), await self._needed_branch(git))
        said = await git.run(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
            *("--", to.remote, f"+refs/heads/{to.branch}:{to.tracking}"),
        )
        if said.status != 0:
            if "couldn't find remote ref" in said.complaint:
                return None
            raise remote_error(f"{to.remote} {to.branch}", said)
        return (await git.told("rev-parse", "--verify", to.tracking)).strip()

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        git = await self._git()
        within = ["--", f"{folder.rstrip('/')}/"] if folder else []
        found = await self._commit(git, commit)
        listed = await git.told(
            "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", found, *within
        )
        files = (_parse_tree_file(line) for line in listed.split("\0") if line)
        return tuple(sorted((one for one in files if one is not None), key=lambda one: one.path))

    async def read(self, commit: str, path: str) -> bytes:
        git = await self._git()
        said = await git.run("cat-file", "blob", f"{await self._commit(git, commit)}:{path}")
        if said.status != 0:
            raise refusals.unknown_commit(f"{commit}:{path}")
        return said.output

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Commit, ...]:
        git = await self._git()
        wanted = [await self._commit(git, until)]
        if since:
            wanted.append(f"^{await self._commit(git, since)}")
        within = ["--", path] if path else []
        listed = await git.told(
            *("--literal-pathspecs", "log", "-z", f"--max-count={most}", _COMMIT),
            *(*wanted, *within),
        )
        return tuple(_parse_commits(listed))

    async def _git(self, *, remote: bool = False) -> GitCommand:
        """Git at the top of the work tree."""
        if self._top is None:
            said = await self._start.run("rev-parse", "--show-toplevel")
            if said.status != 0:
                if "not a git repository" in said.complaint or "work tree" in said.complaint:
                    raise refusals.not_a_repository(str(self._start.directory))
                raise refusals.git_error(str(self._start.directory), error_text(said))
            self._top = Path(said.text.removesuffix("\n"))
        patience = self._remote_patience if remote else self._patience
        return GitCommand(self._top, program=self._program, patience=patience)

    async def _branch(self, git: GitCommand) -> str | None:
        said = await git.run("symbolic-ref", "--quiet", "--short", "HEAD")
        return said.text.strip() or None

    async def _needed_branch(self, git: GitCommand) -> str:
        branch = await self._branch(git)
        if branch is None:
            raise refusals.detached_head_error(str(git.directory))
        return branch

    async def _head(self, git: GitCommand) -> str | None:
        said = await git.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        return said.text.strip() or None

    async def _commit(self, git: GitCommand, revision: str) -> str:
        if not _REVISION.fullmatch(revision):
            raise refusals.unknown_commit(revision)
        said = await git.run("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
        if said.status != 0:
            raise refusals.unknown_commit(revision)
        return said.text.strip()


def _unless_empty(nothing: str, told: str) -> str | None:
    return None if told == nothing else told


def _parse_status_path(line: str) -> str:
    """The path that a line of `git status` is about. Empty: it is about none."""
    words = _BEFORE_PATH.get(line[:1])
    return line.split(" ", words)[-1] if words is not None else ""


def _parse_commits(listed: str) -> Iterator[Commit]:
    """Commits in the form of `_COMMIT`; each ends with an empty field of its own."""
    fields = listed.split("\0")
    for at in range(0, len(fields) - _FIELDS, _FIELDS + 1):
        name, author, seconds, subject = fields[at : at + _FIELDS]
        moment = datetime.fromtimestamp(int(seconds), UTC)
        yield Commit(name=name, author=author, at=moment, subject=subject)


def _parse_tree_file(line: str) -> TreeFile | None:
    """A line of a tree. None: a repository within, of which only the name of a commit is known."""
    facts, _, path = line.partition("\t")
    mode, _, name = facts.split(" ")
    if mode == _REPOSITORY:
        return None
    return TreeFile(
        path=path, object=name, is_executable=mode == _EXECUTABLE, is_link=mode == _LINK
    )
