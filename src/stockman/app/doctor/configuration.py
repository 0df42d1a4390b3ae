"""Checks of the configuration files."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.doctor.check import CheckInput, CheckResult, check, fail, ok, skip, unknown, warn
from stockman.ports.environment import NoAnswer


@check("config.files")
def files(scene: CheckInput) -> Iterator[CheckResult]:
    """The configuration files are there and can be read."""
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
            yield fail(name, "it may not be read", f"run `chmod u+r {name}` as its owner")
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


CHECKS = (files, valid, in_git)
