"""What keeps a repository from being read or written, in our words."""

from __future__ import annotations

from stockman.model.errors import Conflict, Denied, NotFound, Refused, Rejected, Unreachable
from stockman.model.problem import Problem


def not_a_repository(where: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.none",
            what="this is no git repository",
            where=where,
            why="neither here nor above is a work tree of git",
            fix="run `git init --initial-branch=main`, or name the directory of the repository",
        )
    )


def git_missing() -> Refused:
    return Refused(
        Problem(
            code="repo.no-git",
            what="git is not installed",
            why="no program of that name is found",
            fix="install git; it is the one program that stockman needs besides itself",
        )
    )


def unknown_commit(where: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.no-commit",
            what="the repository has no such commit or file",
            where=where,
            why="git finds nothing of that name",
            fix="fetch first, or name another commit",
        )
    )


def missing_remote(why: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.no-remote",
            what="the repository has no remote to push to",
            why=why,
            fix="add one: `git remote add origin URL`",
        )
    )


def other_branch(found: str, followed: str) -> Refused:
    return Refused(
        Problem(
            code="repo.other-branch",
            what=f"branch {found} is checked out, and the cluster follows {followed}",
            why="what is committed here would never reach the cluster",
            fix=f"`git switch {followed}`; where there is no such branch yet,"
            f" `git branch -m {followed}`; or name yours in `repository.branch`",
        )
    )


def not_top_directory(below: str) -> Refused:
    return Refused(
        Problem(
            code="repo.below",
            what="the directory is not the top of its git repository",
            where=below,
            why="the cluster looks for `kubernetes/` at the top of the repository that it follows",
            fix="make a repository of its own in this directory: `git init --initial-branch=main`",
        )
    )


def other_remote(pushed: str, followed: str) -> Refused:
    return Refused(
        Problem(
            code="repo.other-remote",
            what=f"the repository is pushed to {pushed}, and the cluster follows {followed}",
            why="unless one is a copy of the other, the cluster never sees what is pushed",
            fix="name the repository that you push to in `repository_name`, then `stockman render`;"
            " or push to the one that is named: `git remote set-url`",
        )
    )


def detached_head_error(where: str) -> Refused:
    return Refused(
        Problem(
            code="repo.detached",
            what="no branch is checked out",
            where=where,
            why="a commit made now would be on no branch, and lost later",
            fix="check a branch out: `git switch main`",
        )
    )


def unfinished_operation(what: str) -> Refused:
    return Refused(
        Problem(
            code="repo.unfinished",
            what=f"a {what} is not finished",
            why="a commit in the middle of it would mix both",
            fix=f"finish it, or give it up: `git {what} --abort`",
        )
    )


def missing_identity() -> Refused:
    return Refused(
        Problem(
            code="repo.identity",
            what="git does not know who commits",
            why="user.name or user.email is not set, and stockman guesses neither",
            fix="run `git config user.name NAME` and `git config user.email ADDRESS`",
        )
    )


def invalid_path(path: str, why: str) -> Refused:
    return Refused(
        Problem(
            code="repo.path",
            what="this file is not committed",
            where=path,
            why=why,
            fix="name files of the work tree that may be seen by everybody who reads it",
        )
    )


def concurrent_commit(where: str) -> Conflict:
    return Conflict(
        Problem(
            code="repo.moved",
            what="somebody else committed meanwhile",
            where=where,
            why="the branch is no longer where it was when the commit was made",
            fix="do it again: it is made on top of the new commit then",
        )
    )


def remote_ahead(where: str, why: str) -> Conflict:
    return Conflict(
        Problem(
            code="repo.behind",
            what="others pushed something that is not here yet",
            where=where,
            why=why,
            fix=f"bring both together: `git pull --rebase {where}`; stockman never forces a push",
        )
    )


def remote_access_error(where: str, why: str) -> Denied:
    return Denied(
        Problem(
            code="repo.denied",
            what="the remote of the repository does not let us in",
            where=where,
            why=why,
            fix="check the deploy key, token or credential helper; git is never asked to prompt",
        )
    )


def unreachable_remote(where: str, why: str) -> Unreachable:
    return Unreachable(
        Problem(
            code="repo.unreachable",
            what="the remote of the repository gives no answer",
            where=where,
            why=why,
            fix="try again later; check its URL and the network",
        )
    )


def git_error(where: str, why: str) -> Rejected:
    return Rejected(
        Problem(
            code="repo.rejected",
            what="git refuses",
            where=where,
            why=why,
            fix="run the same with git to see all that it says",
        )
    )


def missing_remote_repository(where: str, why: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.remote-missing",
            what="there is no repository at the remote",
            where=where,
            why=why,
            fix="create it, or correct its URL: `git remote set-url origin URL`",
        )
    )
