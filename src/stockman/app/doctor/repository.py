"""Checks of git and of the repository of the directory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman.app.doctor.check import CheckInput, CheckResult, check, fail, ok, skip, unknown, warn
from stockman.app.doctor.servers import git_address, origin_of_key
from stockman.config.language import RepositorySection
from stockman.ports.environment import NoAnswer, Remote

_OLDEST = (2, 30)
_INSTALL = "install git, 2.30 or newer"


@check("git.program")
def program(scene: CheckInput) -> Iterator[CheckResult]:
    """Git is installed, and new enough."""
    try:
        version = scene.repo.version()
    except NoAnswer as none:
        yield fail("git", str(none), "see whether `git --version` answers")
        return
    if version is None:
        yield fail("git", "it is not installed", _INSTALL)
        return
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
    if numbers < _OLDEST:
        yield warn("git", f"{version} is older than stockman was tried with", _INSTALL)
    else:
        yield ok("git", version)


@check("git.work-tree")
def work_tree(scene: CheckInput) -> Iterator[CheckResult]:
    """The directory is in a git repository."""
    try:
        tree = scene.repo.work_tree()
    except NoAnswer as none:
        yield unknown("repository", str(none), "see what `git status` says")
        return
    if tree is None:
        yield warn(
            "repository",
            "this directory is in no git repository, so changes to it have no history",
            "run `git init`, or name the repository with `-C`",
        )
    elif not tree.has_commits:
        yield warn("repository", "it has no commit yet", "commit what `stockman init` wrote")
    else:
        yield ok("repository", "this directory is in one")


@check("git.branch")
def branch(scene: CheckInput) -> Iterator[CheckResult]:
    """The branch that the cluster follows is checked out."""
    tree = scene.tree
    followed = scene.estate.repository.branch
    if tree is None:
        yield skip("branch", "there is no repository to look at")
    elif tree.branch is None:
        yield warn("branch", "none is checked out", f"run `git switch {followed}`")
    elif tree.branch != followed:
        yield warn(
            "branch",
            f"{tree.branch} is checked out, and the cluster follows {followed}",
            f"bring the change to {followed}, or change "
            + origin_of_key(scene.estate.repository, "branch", "repository.branch"),
        )
    else:
        yield ok("branch", tree.branch)


@check("git.remote")
def remote(scene: CheckInput) -> Iterator[CheckResult]:
    """A remote is the repository that the cluster follows, and carries no password."""
    tree = scene.tree
    if tree is None:
        yield skip("remote", "there is no repository to look at")
        return
    for remote in tree.remotes:
        address = git_address(remote.url)
        if address is not None and address.has_password:
            yield warn(
                f"remote {remote.name}",
                f"the URL for {address} contains a password in a file that others may read",
                f"run `git remote set-url {remote.name}` without it, and use a credential helper",
            )
    yield _matching_remote(scene.estate.repository, tree.remotes)


def _matching_remote(section: RepositorySection, remotes: tuple[Remote, ...]) -> CheckResult:
    url = section.url
    expected = git_address(url) if url else None
    known = {remote.name: git_address(remote.url) for remote in remotes}
    if not remotes:
        add = f"run `git remote add origin {url or 'ADDRESS'}`"
        return warn("remote", "there is none, so the cluster cannot see a change", add)
    if expected is None:
        return ok("remote", ", ".join(f"{name} is {address}" for name, address in known.items()))
    for name, address in known.items():
        if address is not None and address.is_same(expected):
            return ok("remote", f"{name} is {address}")
    return warn(
        "remote",
        f"none is {expected}, which the cluster follows",
        f"run `git remote add` with {url}, or change "
        + origin_of_key(section, "url", "repository.url"),
    )


CHECKS = (program, work_tree, branch, remote)
