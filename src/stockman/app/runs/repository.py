"""Check the repository before a run: can the cluster follow it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.app.doctor.servers import git_address
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.ports import repository_errors as refusals
from stockman.ports.repository import GitRepository, PushTarget, RepositoryState

_SHOWN = 12


@record
class FollowedBranch:
    """Repository and branch that the cluster follows."""

    url: str
    branch: str


async def check_repository(
    repo: GitRepository, followed: FollowedBranch, *, push: bool
) -> Problems:
    """Return why the cluster cannot follow the local state.

    With `push` these are errors, otherwise warnings, because the user may fix them meanwhile.
    """
    further: tuple[Problem, ...] = ()
    try:
        state, prospect = await repo.state(), await repo.push_target()
        standing = tuple(_state_problems(state, prospect, followed.branch, push=push))
        further = tuple(_other_remote(prospect, followed))
        if push and not standing:
            standing = tuple(await _foreign_commits(repo, state, prospect))
    except StockmanError as error:
        standing = (error.problem,)
    problems = standing if push else tuple(_warning(state_problem) for state_problem in standing)
    return Problems([*problems, *(_warning(problem) for problem in further)])


def _state_problems(
    state: RepositoryState, prospect: PushTarget, followed: str, *, push: bool
) -> Iterator[Problem]:
    if prospect.below:
        yield refusals.not_top_directory(prospect.below).problem
        return
    if state.branch != followed:
        yield _branch(state, followed)
    if prospect.remote is None:
        yield refusals.missing_remote("it has none that the branch would go to").problem
    if push and not prospect.has_identity:
        yield refusals.missing_identity().problem


async def _foreign_commits(
    repo: GitRepository, state: RepositoryState, prospect: PushTarget
) -> list[Problem]:
    """Return the problem of remote commits that would make a push fail."""
    remote = await repo.fetch()
    if remote is None or remote == state.commit:
        return []
    missing = await repo.commits(remote, since=state.commit or "", most=1)
    if not missing:
        return []
    why = f"the remote has {remote[:_SHOWN]}, here is {(state.commit or 'no commit')[:_SHOWN]}"
    return [refusals.remote_ahead(prospect.upstream, why).problem]


def _branch(state: RepositoryState, followed: str) -> Problem:
    if state.branch is None:
        return refusals.detached_head_error(".").problem
    return refusals.other_branch(state.branch, followed).problem


def _other_remote(prospect: PushTarget, followed: FollowedBranch) -> Iterator[Problem]:
    """Compare the remote with the repository, unless one of them is local."""
    ours = git_address(prospect.remote) if prospect.remote else None
    theirs = git_address(followed.url)
    if ours is not None and theirs is not None and not ours.is_same(theirs):
        yield refusals.other_remote(str(ours), str(theirs)).problem


def _warning(problem: Problem) -> Problem:
    return replace(problem, severity=Severity.WARNING)
