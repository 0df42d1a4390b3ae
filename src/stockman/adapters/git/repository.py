"""Commit selected files with a temporary index; other staged changes are kept."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stockman.adapters.git.command import GitCommand, GitOutput, error_text, printable
from stockman.model.errors import NotFound, StockmanError
from stockman.ports import repository_errors as refusals
from stockman.ports.repository import Commit, PushTarget, RemoteBranch, RepositoryState, TreeFile

_DEFAULT_REMOTE = "origin"
_REMOTE = "remote."
_NONE = 1
"""Exit status of `git config` if the key does not exist."""
_NOT_FORWARD = ("non-fast-forward", "fetch first", "stale info", "needs force")
_DENIED = (
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "Permission denied",
    "Host key verification failed",
    "returned error: 401",
    "returned error: 403",
    "HTTP 401",
    "HTTP 403",
    "not authorized",
)
_MISSING = (
    "does not appear to be a git repository",
    "not found",
    "does not exist",
    "no such file or directory",
    "returned error: 404",
)


class Upstream(NamedTuple):
    """The remote and the remote branch of a branch."""

    remote: str
    branch: str

    @property
    def tracking(self) -> str:
        return f"refs/remotes/{self.remote}/{self.branch}"


class GitSettings:
    """The git settings of remotes and branches."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def get(self, key: str) -> str:
        """Return the value of a key such as `remote.origin.url`. Empty: not set."""
        return self._values.get(key, "").strip()

    @property
    def remotes(self) -> list[str]:
        mine = (key.removeprefix(_REMOTE) for key in self._values if key.startswith(_REMOTE))
        names = (key.rpartition(".")[0] for key in mine)
        return list(dict.fromkeys(name for name in names if name))


async def read_settings(git: GitCommand) -> GitSettings:
    """Read the settings of remotes and branches."""
    result = await git.run("config", "--null", "--get-regexp", r"^(remote|branch)\.")
    if result.status not in (0, _NONE):
        raise refusals.git_error("git config", error_text(result))
    pairs = (setting.partition("\n") for setting in result.text.split("\0") if setting)
    return GitSettings({key: value for key, _, value in pairs})


def find_upstream(settings: GitSettings, branch: str) -> Upstream:
    """Return the remote of a branch: its own, else `origin`, else the only one."""
    remotes = settings.remotes
    own = settings.get(f"branch.{branch}.remote")
    merge = settings.get(f"branch.{branch}.merge")
    if own in remotes:
        return Upstream(own, merge.removeprefix("refs/heads/") or branch)
    if _DEFAULT_REMOTE in remotes:
        return Upstream(_DEFAULT_REMOTE, branch)
    if len(remotes) == 1:
        return Upstream(remotes[0], branch)
    why = "it has several remotes, and the branch selects none" if remotes else "it has no remote"
    raise refusals.missing_remote(why)


def push_error(where: str, result: GitOutput) -> StockmanError | None:
    """Return the error of a push. None: it succeeded, or there was nothing to push."""
    if result.status == 0:
        return None
    for line in result.text.splitlines():
        flag, _, fields = line.partition("\t")
        if flag != "!":
            continue
        why = printable(fields.rpartition("\t")[2])
        if any(sign in why for sign in _NOT_FORWARD):
            return refusals.remote_ahead(where, f"the remote replies {why}")
        return refusals.git_error(where, f"the remote replies {why}")
    return remote_error(where, result)


def remote_error(where: str, result: GitOutput) -> StockmanError:
    """Return the error of a failed access to a remote."""
    message, why = result.errors, error_text(result)
    if any(sign in message for sign in _DENIED):
        return refusals.remote_access_error(where, why)
    if any(sign in message.lower() for sign in _MISSING):
        return refusals.missing_remote_repository(where, why)
    return refusals.unreachable_remote(where, why)


_NO_OBJECT = "0" * 40
_NONE_IGNORED = 1
"""Exit status of `check-ignore` if no path is ignored."""
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
    """Commit paths on top of a branch and return the commit. None: nothing has changed."""
    selected = sorted(set(paths))
    await _check_paths(git, selected)
    path_list = b"".join(os.fsencode(path) + b"\0" for path in selected)
    with tempfile.TemporaryDirectory(prefix="stockman-") as scratch:
        temporary_index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        await git.output("read-tree", *([head] if head else ["--empty"]), variables=temporary_index)
        await _update_index(git, path_list, temporary_index)
        tree = (await git.output("write-tree", variables=temporary_index)).strip()
    if head is not None and tree == (await git.output("rev-parse", f"{head}^{{tree}}")).strip():
        return None
    if head is None and not (await git.output("ls-tree", tree)):
        return None
    commit = await _write_commit(git, tree, head, message)
    # Update the index first: after an interruption the files are staged, and nothing is lost.
    await _update_index(git, path_list, {"GIT_OPTIONAL_LOCKS": "1"})
    result = await git.run(
        *("update-ref", "-m", f"commit: {message.partition(chr(10))[0]}"),
        *(f"refs/heads/{branch}", commit, head or _NO_OBJECT),
    )
    if result.status != 0:
        raise refusals.concurrent_commit(branch)
    return commit


async def _write_commit(git: GitCommand, tree: str, head: str | None, message: str) -> str:
    parents = ["-p", head] if head else []
    result = await git.run("commit-tree", *parents, "-F", "-", tree, stdin=f"{message}\n".encode())
    if result.status != 0:
        if any(sign in result.errors for sign in _NO_IDENTITY):
            raise refusals.missing_identity()
        raise refusals.git_error("git commit-tree", error_text(result))
    return result.text.strip()


async def _update_index(git: GitCommand, path_list: bytes, variables: dict[str, str]) -> None:
    await git.output(
        *("update-index", "--add", "--remove", "-z", "--stdin"),
        stdin=path_list,
        variables=variables,
    )


async def _check_paths(git: GitCommand, paths: list[str]) -> None:
    """Refuse paths outside of the work tree, and unfinished operations such as a merge."""
    for name, operation in _OPERATIONS.items():
        marker = (await git.output("rev-parse", "--git-path", name)).strip()
        if (git.directory / marker).exists():
            raise refusals.unfinished_operation(operation)
    for path in paths:
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path:
            raise refusals.invalid_path(path, "it is not a normalized relative path")
        if ".git" in (segment.lower() for segment in pure.parts):
            raise refusals.invalid_path(path, "it belongs to git")
        file = git.directory / path
        if file.is_dir() and not file.is_symlink():
            raise refusals.invalid_path(path, "it is a directory")
        for parent in pure.parents:
            if (git.directory / parent).is_symlink():
                raise refusals.invalid_path(path, "it is below a symbolic link")
    path_list = b"".join(os.fsencode(path) + b"\0" for path in paths)
    # Without `--no-index`, a file in the index does not count as ignored.
    ignored = await git.run("check-ignore", "-z", "--stdin", stdin=path_list)
    if ignored.status > _NONE_IGNORED:
        raise refusals.git_error("git check-ignore", error_text(ignored))
    for path in ignored.text.split("\0"):
        if path:
            raise refusals.invalid_path(path, "it is ignored by git")


_NO_REFERENCE = 2
"""Exit status of `ls-remote --exit-code` without a matching branch."""
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_COMMIT = "--format=%H%x00%an <%ae>%x00%at%x00%s%x00"
_FIELDS = 4
_DETACHED, _UNBORN = "(detached)", "(initial)"
_BEFORE_PATH = {"1": 8, "u": 10, "?": 1}
"""Number of fields before the path in a line of `git status`, by its first character."""
_LINK, _EXECUTABLE, _REPOSITORY = "120000", "100755", "160000"


class LocalGitRepository:
    """`GitRepository` with the git program, for the work tree of a directory."""

    def __init__(
        self,
        directory: Path,
        *,
        program: str = "git",
        patience: float = 30.0,
        remote_patience: float = 300.0,
    ) -> None:
        """`patience` is the timeout of local operations, `remote_patience` of remote ones."""
        self._start = GitCommand(directory, program=program, patience=patience)
        self._program = program
        self._patience = patience
        self._remote_patience = remote_patience
        self._top: Path | None = None

    async def state(self) -> RepositoryState:
        git = await self._git()
        output = await git.output(
            *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z"),
            *("--untracked-files=all", "--no-renames"),
        )
        lines = [line for line in output.split("\0") if line]
        header = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
        return RepositoryState(
            branch=_unless_empty(_DETACHED, header.get("branch.head", _DETACHED)),
            commit=_unless_empty(_UNBORN, header.get("branch.oid", _UNBORN)),
            dirty=tuple(sorted(filter(None, map(_parse_status_path, lines)))),
        )

    async def push_target(self) -> PushTarget:
        git = await self._git()
        below = await self._start.output("rev-parse", "--show-prefix")
        identity = await git.run("var", "GIT_COMMITTER_IDENT")
        remotes = await read_settings(git)
        try:
            upstream = find_upstream(remotes, await self._branch(git) or "")
        except NotFound:
            upstream = None
        return PushTarget(
            below=below.strip().rstrip("/"),
            remote=(remotes.get(f"remote.{upstream.remote}.url") or None)
            if upstream is not None
            else None,
            upstream=f"{upstream.remote} {upstream.branch}" if upstream is not None else "",
            has_identity=identity.status == 0,
        )

    async def commit(self, paths: Collection[str], message: str) -> str | None:
        git = await self._git()
        branch = await self._branch(git)
        if branch is None:
            raise refusals.detached_head_error(str(git.directory))
        return await create_commit(git, branch, await self._head(git), paths, message)

    async def push(self, branch: str = "") -> None:
        git = await self._git(remote=True)
        source = await self._require_branch(git)
        upstream = find_upstream(await read_settings(git), source)
        if branch:
            upstream = upstream._replace(branch=branch)
        if await self._head(git) is None:
            return
        result = await git.run(
            *("push", "--porcelain", "--no-verify", "--no-follow-tags", "--"),
            *(upstream.remote, f"refs/heads/{source}:refs/heads/{upstream.branch}"),
        )
        error = push_error(f"{upstream.remote} {upstream.branch}", result)
        if error is not None:
            raise error

    async def fetch(self, branch: str = "") -> str | None:
        git = await self._git(remote=True)
        upstream = find_upstream(await read_settings(git), await self._require_branch(git))
        if branch:
            upstream = upstream._replace(branch=branch)
        result = await git.run(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
            *("--", upstream.remote, f"+refs/heads/{upstream.branch}:{upstream.tracking}"),
        )
        if result.status != 0:
            if "couldn't find remote ref" in result.errors:
                return None
            raise remote_error(f"{upstream.remote} {upstream.branch}", result)
        return (await git.output("rev-parse", "--verify", upstream.tracking)).strip()

    async def read_remote(self, remote: RemoteBranch) -> str | None:
        directory = self._start.directory
        keys = [directory / name for name in remote.key_files if (directory / name).is_file()]
        if remote.key_files and not keys:
            raise refusals.missing_key_file(" or ".join(remote.key_files))
        git = GitCommand(directory, program=self._program, patience=self._patience)
        with tempfile.NamedTemporaryFile("w", prefix="stockman-known-hosts-") as hosts:
            hosts.write(remote.known_hosts)
            hosts.flush()
            variables = {"GIT_SSH_COMMAND": _ssh_command(keys[0], hosts.name)} if keys else {}
            result = await git.run(
                *("-c", "credential.helper=", "ls-remote", "--exit-code", "--"),
                *(remote.url, f"refs/heads/{remote.branch}"),
                variables=variables,
            )
        if result.status == _NO_REFERENCE:
            return None
        if result.status != 0:
            raise remote_error(remote.url, result)
        return result.text.partition("\t")[0].strip()

    async def tree(self, commit: str, folder: str = "") -> tuple[TreeFile, ...]:
        git = await self._git()
        paths = ["--", f"{folder.rstrip('/')}/"] if folder else []
        name = await self._commit(git, commit)
        output = await git.output(
            "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", name, *paths
        )
        files = (_parse_tree_file(line) for line in output.split("\0") if line)
        return tuple(
            sorted((file for file in files if file is not None), key=lambda file: file.path)
        )

    async def read(self, commit: str, path: str) -> bytes:
        git = await self._git()
        result = await git.run("cat-file", "blob", f"{await self._commit(git, commit)}:{path}")
        if result.status != 0:
            raise refusals.unknown_commit(f"{commit}:{path}")
        return result.output

    async def commits(
        self, until: str, *, since: str = "", path: str = "", most: int = 20
    ) -> tuple[Commit, ...]:
        git = await self._git()
        revisions = [await self._commit(git, until)]
        if since:
            revisions.append(f"^{await self._commit(git, since)}")
        paths = ["--", path] if path else []
        output = await git.output(
            *("--literal-pathspecs", "log", "-z", f"--max-count={most}", _COMMIT),
            *(*revisions, *paths),
        )
        return tuple(_parse_commits(output))

    async def _git(self, *, remote: bool = False) -> GitCommand:
        """Return a git command that runs at the top of the work tree."""
        if self._top is None:
            result = await self._start.run("rev-parse", "--show-toplevel")
            if result.status != 0:
                if "not a git repository" in result.errors or "work tree" in result.errors:
                    raise refusals.not_a_repository(str(self._start.directory))
                raise refusals.git_error(str(self._start.directory), error_text(result))
            self._top = Path(result.text.removesuffix("\n"))
        patience = self._remote_patience if remote else self._patience
        return GitCommand(self._top, program=self._program, patience=patience)

    async def _branch(self, git: GitCommand) -> str | None:
        result = await git.run("symbolic-ref", "--quiet", "--short", "HEAD")
        return result.text.strip() or None

    async def _require_branch(self, git: GitCommand) -> str:
        branch = await self._branch(git)
        if branch is None:
            raise refusals.detached_head_error(str(git.directory))
        return branch

    async def _head(self, git: GitCommand) -> str | None:
        result = await git.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        return result.text.strip() or None

    async def _commit(self, git: GitCommand, revision: str) -> str:
        if not _REVISION.fullmatch(revision):
            raise refusals.unknown_commit(revision)
        result = await git.run("rev-parse", "--quiet", "--verify", f"{revision}^{{commit}}")
        if result.status != 0:
            raise refusals.unknown_commit(revision)
        return result.text.strip()


def _ssh_command(key: Path, known_hosts: str) -> str:
    """Return the command of an SSH that logs in with one key, to one of the known hosts."""
    options = {
        "IdentityFile": str(key.resolve()),
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "BatchMode": "yes",
        "UserKnownHostsFile": known_hosts,
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "ConnectTimeout": "10",
    }
    values = [item for name, value in options.items() for item in ("-o", f"{name}={value}")]
    return shlex.join(["ssh", "-F", "/dev/null", *values])


def _unless_empty(placeholder: str, value: str) -> str | None:
    return None if value == placeholder else value


def _parse_status_path(line: str) -> str:
    """Return the path in a line of `git status`. Empty: the line has none."""
    fields = _BEFORE_PATH.get(line[:1])
    return line.split(" ", fields)[-1] if fields is not None else ""


def _parse_commits(output: str) -> Iterator[Commit]:
    """Parse commits in the format `_COMMIT`; each ends with an empty field."""
    fields = output.split("\0")
    for start in range(0, len(fields) - _FIELDS, _FIELDS + 1):
        name, author, seconds, subject = fields[start : start + _FIELDS]
        moment = datetime.fromtimestamp(int(seconds), UTC)
        yield Commit(name=name, author=author, at=moment, subject=subject)


def _parse_tree_file(line: str) -> TreeFile | None:
    """Parse a line of `git ls-tree`. None: a submodule."""
    fields, _, path = line.partition("\t")
    mode, _, name = fields.split(" ")
    if mode == _REPOSITORY:
        return None
    return TreeFile(
        path=path, object=name, is_executable=mode == _EXECUTABLE, is_link=mode == _LINK
    )
