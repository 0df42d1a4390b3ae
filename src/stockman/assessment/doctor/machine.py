"""Checks of this machine, of the git repository, and of the configuration files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from stockman.assessment.doctor.check import (
    CheckInput,
    CheckResult,
    check,
    fail,
    ok,
    skip,
    unknown,
    warn,
)
from stockman.assessment.doctor.servers import git_address, origin_of_key
from stockman.config.language import RepositorySection
from stockman.model.tables import TABLE_NAMES, table_info
from stockman.ports.environment import NoAnswer, Remote

_MIB = 1024**2
_LITTLE = 2048 * _MIB
_TOO_LITTLE = 200 * _MIB


@check("machine.python")
def python(scene: CheckInput) -> Iterator[CheckResult]:
    """The version of Python is one that stockman runs on."""
    yield ok("Python", scene.machine.python())


@check("machine.encoding")
def encoding(scene: CheckInput) -> Iterator[CheckResult]:
    """The terminal can display every character."""
    name = scene.machine.encoding()
    if name.replace("_", "-") in ("utf-8", "utf8"):
        yield ok("output", name)
    else:
        yield warn(
            "output",
            f"its encoding is {name}, so some characters are written as escapes",
            "use a UTF-8 locale: `export LC_ALL=C.UTF-8`",
        )


@check("machine.disk")
def disk(scene: CheckInput) -> Iterator[CheckResult]:
    """There is enough free space for files and temporary files."""
    temporary = scene.machine.temporary()
    for subject, path in (
        ("this directory", scene.directory),
        (f"temporary files ({temporary})", temporary),
    ):
        room = scene.machine.space(path)
        if room is None:
            yield unknown(subject, "its free space cannot be determined", f"see `df {path}`")
            continue
        summary = f"{_describe_size(room.free)} free"
        if not room.writable:
            yield fail(subject, "it is not writable", f"see `ls -ld {path}`")
        elif room.free < _TOO_LITTLE:
            yield fail(subject, summary, f"free at least {_describe_size(_LITTLE)}")
        elif room.free < _LITTLE:
            yield warn(subject, summary, f"free space: {_describe_size(_LITTLE)} are enough")
        else:
            yield ok(subject, summary)


@check("machine.date")
def date(scene: CheckInput) -> Iterator[CheckResult]:
    """The date is one on which this version of stockman existed."""
    refreshed = max(table_info(name).refreshed for name in TABLE_NAMES)
    earliest = datetime.fromisoformat(refreshed).replace(tzinfo=UTC) - timedelta(days=1)
    now = scene.clock.now()
    today = f"{now:%Y-%m-%d}"
    if now >= earliest:
        yield ok("date", today)
    else:
        yield warn(
            "date",
            f"it is {today} here, and this stockman has tables of {refreshed}",
            "set the clock; certificates made with a wrong one are refused",
        )


def _describe_size(size: int) -> str:
    return f"{size / 1024**3:.1f} GiB" if size >= 1024 * _MIB else f"{size // _MIB} MiB"


@check("config.files")
def files(scene: CheckInput) -> Iterator[CheckResult]:
    """The configuration files exist and can be read."""
    if not scene.files:
        yield fail(
            "configuration",
            "there is none in this directory",
            "run `stockman init`, or name the directory with `-C`",
        )
    for name in scene.files:
        facts = scene.machine.file(scene.directory / name)
        if facts is None:
            yield fail(name, "it is missing", f"write {name}; `stockman init` makes one")
        elif not facts.is_file:
            yield fail(name, "it is not a file", f"put the file where {name} is now")
        elif not facts.readable:
            yield fail(name, "it is not readable", f"run `chmod u+r {name}` as its owner")
        else:
            yield ok(name, "it can be read")


@check("config.valid")
def valid(scene: CheckInput) -> Iterator[CheckResult]:
    """The configuration files have no mistakes."""
    if not scene.files:
        yield skip("configuration", "there is none to check")
        return
    errors = sum(problem.is_error for problem in scene.problems)
    warnings = len(scene.problems) - errors
    see = "run `stockman validate`, which shows each with its place and fix"
    if errors:
        also = f" and {_count(warnings, 'warning')}" if warnings else ""
        yield fail("configuration", f"{_count(errors, 'error')}{also}", see)
    elif warnings:
        yield warn("configuration", _count(warnings, "warning"), see)
    else:
        yield ok("configuration", "no mistakes")


@check("config.tracked")
def in_git(scene: CheckInput) -> Iterator[CheckResult]:
    """The configuration files are tracked in git."""
    for name in scene.files:
        if scene.machine.file(scene.directory / name) is None:
            continue
        try:
            standing = scene.repo.file_state(name)
        except NoAnswer as none:
            yield unknown(name, str(none), "see what `git status` says")
            continue
        match standing:
            case "tracked":
                yield ok(name, "it is tracked in git")
            case "ignored":
                yield warn(
                    name,
                    "git ignores it, so pull requests and Renovate cannot see it",
                    f"remove the rule that `git check-ignore -v {name}` shows, then add the file",
                )
            case "untracked":
                yield warn(name, "git does not track it yet", f"run `git add {name}`")
            case "outside":
                yield skip(name, "there is no repository that could track it")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


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


CHECKS = (
    *(python, encoding, disk, date),
    *(program, work_tree, branch, remote),
    *(files, valid, in_git),
)
