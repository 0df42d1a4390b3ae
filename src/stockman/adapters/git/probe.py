"""The git program, asked about one directory.

Git runs without what could make it do more than answer: no prompt, pager, hook or file monitor,
and no variable of the environment that would point it to another repository.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.ports.environment import Exposure, GitFileState, NoAnswer, Remote, WorkTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from subprocess import CompletedProcess

_TIMEOUT = 3.0
"""Seconds."""
_USER_SETTINGS = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_READ_ONLY_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
OPTIONS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
)
_NO_WORK_TREE = ("not a git repository", "must be run in a work tree", "is outside repository")


class LocalGitProbe:
    """`ports.Repo` by the git program."""

    def __init__(
        self, directory: Path, *, program: str = "git", patience: float = _TIMEOUT
    ) -> None:
        self._directory = directory
        self._program = program
        self._patience = patience
        self._silent = ""
        """Why git is not asked again. Empty: it answered so far."""

    def version(self) -> str | None:
        try:
            answer = self._asked(["--version"])
        except FileNotFoundError:
            return None
        return answer.stdout.removeprefix("git version ").partition(" ")[0].strip()

    def work_tree(self) -> WorkTree | None:
        inside = self._told(["rev-parse", "--is-inside-work-tree"])
        if inside is None or inside.stdout.strip() != "true":
            return None
        branch = self._told(["symbolic-ref", "--quiet", "--short", "HEAD"])
        commit = self._told(["rev-parse", "--quiet", "--verify", "HEAD"])
        return WorkTree(
            branch=(branch.stdout.strip() or None) if branch else None,
            has_commits=commit is not None and commit.returncode == 0,
            remotes=self._remotes(),
        )

    def standing(self, path: str) -> GitFileState:
        listed = self._told(["--literal-pathspecs", "ls-files", "-z", "--", path])
        if listed is None:
            return "outside"
        if listed.stdout:
            return "tracked"
        ignored = self._told(["check-ignore", "--quiet", "--", path])
        if ignored is None:
            return "outside"
        return "ignored" if ignored.returncode == 0 else "untracked"

    def exposure(self, name: str) -> Exposure:
        if not self._is_below_a_repository():
            return "outside"
        try:
            # Without `--no-index`, a file in the index does not count as ignored.
            ignored = self._told(["check-ignore", "--quiet", "--", name])
        except NoAnswer:
            return "tracked"
        if ignored is None:
            return "outside"
        return "ignored" if ignored.returncode == 0 else "tracked"

    def _remotes(self) -> tuple[Remote, ...]:
        listed = self._told(["remote", "--verbose"])
        found: dict[Remote, None] = {}
        for line in listed.stdout.splitlines() if listed else ():
            name, _, rest = line.partition("\t")
            found[Remote(name=name, url=rest.rpartition(" (")[0])] = None
        return tuple(found)

    def _is_below_a_repository(self) -> bool:
        start = self._directory.resolve()
        return any((place / ".git").exists() for place in (start, *start.parents))

    def _told(self, arguments: Sequence[str]) -> CompletedProcess[str] | None:
        """What git answers; None: the question is about nothing in a work tree."""
        try:
            answer = self._asked(arguments)
        except FileNotFoundError:
            raise NoAnswer("git is not installed") from None
        if answer.returncode <= 1:
            return answer
        if any(sign in answer.stderr for sign in _NO_WORK_TREE):
            return None
        complaint = answer.stderr.strip().partition("\n")[0].removeprefix("fatal: ")
        raise NoAnswer(f"git says: {complaint or f'status {answer.returncode}'}")

    def _asked(self, arguments: Sequence[str]) -> CompletedProcess[str]:
        import subprocess

        if self._silent:
            raise NoAnswer(self._silent)
        try:
            return subprocess.run(
                [self._program, *OPTIONS, *arguments],
                cwd=self._directory,
                env=git_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self._patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._silent = f"git gave no answer within {self._patience:g} s"
            raise NoAnswer(self._silent) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            if not is_installed(self._program):
                raise FileNotFoundError from None
            raise NoAnswer(f"git cannot be run: {error.strerror or error}") from None


def is_installed(program: str) -> bool:
    """Whether a directory on PATH has the program.

    The error of a start does not tell: it is EACCES, not ENOENT, where such a directory is closed.
    """
    from shutil import which

    return which(program) is not None


def git_environment() -> dict[str, str]:
    """The variables that git is started with."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _USER_SETTINGS
    }
    return kept | _READ_ONLY_ENVIRONMENT
