"""Remotes: which one a branch goes to, and what their answers mean."""

from __future__ import annotations

from typing import NamedTuple

from stockman.adapters.git_repo.program import Git, Said, complaint, shown
from stockman.model.errors import StockmanError
from stockman.ports import repo_refusals as refusals

_USUAL = "origin"
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


async def upstream(git: Git, branch: str) -> Upstream:
    """The remote of a branch: its own, else `origin`, else the only one. `NotFound`: none."""
    listed = await git.told("remote")
    remotes = listed.split()
    own = (await git.run("config", "--get", f"branch.{branch}.remote")).text.strip()
    merge = (await git.run("config", "--get", f"branch.{branch}.merge")).text.strip()
    if own in remotes:
        return Upstream(own, merge.removeprefix("refs/heads/") or branch)
    if _USUAL in remotes:
        return Upstream(_USUAL, branch)
    if len(remotes) == 1:
        return Upstream(remotes[0], branch)
    why = "it has several, and the branch names none" if remotes else "it has none at all"
    raise refusals.no_remote(why)


def pushed(where: str, said: Said) -> StockmanError | None:
    """What the answer to a push means. None: it was pushed, or there was nothing to push."""
    if said.status == 0:
        return None
    for line in said.text.splitlines():
        flag, _, rest = line.partition("\t")
        if flag != "!":
            continue
        why = shown(rest.rpartition("\t")[2])
        if any(sign in why for sign in _NOT_FORWARD):
            return refusals.behind(where, f"the remote answers {why}")
        return refusals.rejected(where, f"the remote answers {why}")
    return failed(where, said)


def failed(where: str, said: Said) -> StockmanError:
    """What a remote that could not be asked means."""
    told, why = said.complaint, complaint(said)
    if any(sign in told for sign in _DENIED):
        return refusals.denied(where, why)
    if any(sign in told.lower() for sign in _MISSING):
        return refusals.no_remote_repository(where, why)
    return refusals.unreachable(where, why)
