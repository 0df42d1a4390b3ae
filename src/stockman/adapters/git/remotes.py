"""Find the remote of a branch, and translate errors of remotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stockman.adapters.git.command import GitCommand, GitOutput, error_text, printable
from stockman.model.errors import StockmanError
from stockman.ports import repository_errors as refusals

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
