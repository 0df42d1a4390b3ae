"""Remotes: which one a branch goes to, and what their answers mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stockman.adapters.git.command import GitCommand, GitOutput, error_text, printable
from stockman.model.errors import StockmanError
from stockman.ports import repository_errors as refusals

_DEFAULT_REMOTE = "origin"
_REMOTE = "remote."
_NONE = 1
"""What `git config` ends with where there is no such key."""
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
    """Where a branch goes."""

    remote: str
    branch: str

    @property
    def tracking(self) -> str:
        return f"refs/remotes/{self.remote}/{self.branch}"


class GitSettings:
    """What a repository is told of remotes, and of the branches that go there."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def get(self, key: str) -> str:
        """The value of a key, `remote.origin.url`. Empty: there is none."""
        return self._values.get(key, "").strip()

    @property
    def remotes(self) -> list[str]:
        mine = (key.removeprefix(_REMOTE) for key in self._values if key.startswith(_REMOTE))
        names = (key.rpartition(".")[0] for key in mine)
        return list(dict.fromkeys(name for name in names if name))


async def read_settings(git: GitCommand) -> GitSettings:
    """All of them, by one question."""
    said = await git.run("config", "--null", "--get-regexp", r"^(remote|branch)\.")
    if said.status not in (0, _NONE):
        raise refusals.git_error("git config", error_text(said))
    pairs = (one.partition("\n") for one in said.text.split("\0") if one)
    return GitSettings({key: value for key, _, value in pairs})


def find_upstream(known: GitSettings, branch: str) -> Upstream:
    """The remote of a branch: its own, else `origin`, else the only one. `NotFound`: none."""
    remotes = known.remotes
    own = known.get(f"branch.{branch}.remote")
    merge = known.get(f"branch.{branch}.merge")
    if own in remotes:
        return Upstream(own, merge.removeprefix("refs/heads/") or branch)
    if _DEFAULT_REMOTE in remotes:
        return Upstream(_DEFAULT_REMOTE, branch)
    if len(remotes) == 1:
        return Upstream(remotes[0], branch)
    why = "it has several, and the branch names none" if remotes else "it has none at all"
    raise refusals.missing_remote(why)


def push_error(where: str, said: GitOutput) -> StockmanError | None:
    """What the answer to a push means. None: it was pushed, or there was nothing to push."""
    if said.status == 0:
        return None
    for line in said.text.splitlines():
        flag, _, rest = line.partition("\t")
        if flag != "!":
            continue
        why = printable(rest.rpartition("\t")[2])
        if any(sign in why for sign in _NOT_FORWARD):
            return refusals.remote_ahead(where, f"the remote answers {why}")
        return refusals.git_error(where, f"the remote answers {why}")
    return remote_error(where, said)


def remote_error(where: str, said: GitOutput) -> StockmanError:
    """What a remote that could not be asked means."""
    told, why = said.complaint, error_text(said)
    if any(sign in told for sign in _DENIED):
        return refusals.remote_access_error(where, why)
    if any(sign in told.lower() for sign in _MISSING):
        return refusals.missing_remote_repository(where, why)
    return refusals.unreachable_remote(where, why)
