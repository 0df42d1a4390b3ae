"""Errors of git repositories."""

from __future__ import annotations

from stockman.model.errors import Conflict, Denied, NotFound, Refused, Rejected, Unreachable
from stockman.model.problem import Problem


def not_a_repository(where: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.none",
            what="the directory is not a git repository",
            where=where,
            why="neither the directory nor its parents contain a git work tree",
            fix="run `git init --initial-branch=main`, or name the directory of the repository",
        )
    )


def git_missing() -> Refused:
    return Refused(
        Problem(
            code="repo.no-git",
            what="git is not installed",
            why="no program named git was found",
            fix="install git; it is the only external program that stockman needs",
        )
    )


def unknown_commit(where: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.no-commit",
            what="the commit or file does not exist in the repository",
            where=where,
            why="git finds no object with this name",
            fix="fetch first, or use another commit",
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


def other_branch(branch: str, followed: str) -> Refused:
    return Refused(
        Problem(
            code="repo.other-branch",
            what=f"branch {branch} is checked out, and the cluster follows {followed}",
            why="commits on this branch never reach the cluster",
            fix=f"`git switch {followed}`; if that branch does not exist yet,"
            f" `git branch -m {followed}`; or set `repository.branch` to your branch",
        )
    )


def not_top_directory(below: str) -> Refused:
    return Refused(
        Problem(
            code="repo.below",
            what="the directory is not the top level of its git repository",
            where=below,
            why="the cluster reads `kubernetes/` at the top level of its repository",
            fix="create a separate repository in this directory: `git init --initial-branch=main`",
        )
    )


def other_remote(pushed: str, followed: str) -> Refused:
    return Refused(
        Problem(
            code="repo.other-remote",
            what=f"the repository is pushed to {pushed}, and the cluster follows {followed}",
            why="unless one is a mirror of the other, the cluster never sees pushed commits",
            fix="set `repository_name` to the repository that you push to, then `stockman render`;"
            " or push to the configured one: `git remote set-url`",
        )
    )


def placeholder_repository(pushed: str, followed: str) -> Refused:
    return Refused(
        Problem(
            code="repo.placeholder",
            what=f"the cluster would follow {followed}, which is a placeholder",
            why=f"the repository is pushed to {pushed}; Flux would never see it",
            fix="set `repository_name` to the repository that you push to, then `stockman render`",
        )
    )


def missing_key_file(names: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.no-key",
            what=f"there is no {names} here",
            why="the deploy key of the repository is on another machine",
            fix="check the repository on the machine that has the key",
        )
    )


def detached_head_error(where: str) -> Refused:
    return Refused(
        Problem(
            code="repo.detached",
            what="no branch is checked out",
            where=where,
            why="a commit would be on no branch and would be lost later",
            fix="check out a branch: `git switch main`",
        )
    )


def unfinished_operation(operation: str) -> Refused:
    return Refused(
        Problem(
            code="repo.unfinished",
            what=f"a {operation} is in progress",
            why="a commit during the operation would mix its changes with those of stockman",
            fix=f"finish it, or abort it: `git {operation} --abort`",
        )
    )


def missing_identity() -> Refused:
    return Refused(
        Problem(
            code="repo.identity",
            what="git has no name and address for commits",
            why="user.name or user.email is not set",
            fix="run `git config user.name NAME` and `git config user.email ADDRESS`",
        )
    )


def invalid_path(path: str, why: str) -> Refused:
    return Refused(
        Problem(
            code="repo.path",
            what="the file cannot be committed",
            where=path,
            why=why,
            fix="commit only files of the work tree that all readers may see",
        )
    )


def concurrent_commit(where: str) -> Conflict:
    return Conflict(
        Problem(
            code="repo.moved",
            what="somebody else committed to the branch at the same time",
            where=where,
            why="the branch has moved since the commit was created",
            fix="run it again: it creates the commit on top of the new one",
        )
    )


def remote_ahead(where: str, why: str) -> Conflict:
    return Conflict(
        Problem(
            code="repo.behind",
            what="the remote branch contains commits that are missing locally",
            where=where,
            why=why,
            fix=f"combine both: `git pull --rebase {where}`; stockman never force-pushes",
        )
    )


def remote_access_error(where: str, why: str) -> Denied:
    return Denied(
        Problem(
            code="repo.denied",
            what="the remote of the repository denies access",
            where=where,
            why=why,
            fix="check the deploy key, token or credential helper; git runs without prompts",
        )
    )


def unreachable_remote(where: str, why: str) -> Unreachable:
    return Unreachable(
        Problem(
            code="repo.unreachable",
            what="the remote of the repository does not respond",
            where=where,
            why=why,
            fix="check its URL and the network, then try again",
        )
    )


def git_error(where: str, why: str) -> Rejected:
    return Rejected(
        Problem(
            code="repo.rejected",
            what="git rejected the operation",
            where=where,
            why=why,
            fix="run the same operation with git to see its complete output",
        )
    )


def missing_remote_repository(where: str, why: str) -> NotFound:
    return NotFound(
        Problem(
            code="repo.remote-missing",
            what="the remote repository does not exist",
            where=where,
            why=why,
            fix="create it, or correct its URL: `git remote set-url origin URL`",
        )
    )
