"""Read the state of a repository with the git program.

Git runs without prompts, pager, hooks and file monitor, and without environment variables that
point to another repository.
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
"""Timeouts in seconds."""
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
    """`GitProbe` with the git program."""

    def __init__(
        self, directory: Path, *, program: str = "git", patience: float = _TIMEOUT
    ) -> None:
        self._directory = directory
        self._program = program
        self._patience = patience
        self._silent = ""
        """Why git is not run again. Empty: it has responded so far."""

    def version(self) -> str | None:
        try:
            answer = self._run(["--version"])
        except FileNotFoundError:
            return None
        return answer.stdout.removeprefix("git version ").partition(" ")[0].strip()

    def work_tree(self) -> WorkTree | None:
        inside = self._translate_errors(["rev-parse", "--is-inside-work-tree"])
        if inside is None or inside.stdout.strip() != "true":
            return None
        branch = self._translate_errors(["symbolic-ref", "--quiet", "--short", "HEAD"])
        commit = self._translate_errors(["rev-parse", "--quiet", "--verify", "HEAD"])
        return WorkTree(
            branch=(branch.stdout.strip() or None) if branch else None,
            has_commits=commit is not None and commit.returncode == 0,
            remotes=self._remotes(),
        )

    def file_state(self, path: str) -> GitFileState:
        listed = self._translate_errors(["--literal-pathspecs", "ls-files", "-z", "--", path])
        if listed is None:
            return "outside"
        if listed.stdout:
            return "tracked"
        ignored = self._translate_errors(["check-ignore", "--quiet", "--", path])
        if ignored is None:
            return "outside"
        return "ignored" if ignored.returncode == 0 else "untracked"

    def exposure(self, name: str) -> Exposure:
        if not self._is_below_a_repository():
            return "outside"
        try:
            # Without `--no-index`, a file in the index does not count as ignored.
            ignored = self._translate_errors(["check-ignore", "--quiet", "--", name])
        except NoAnswer:
            return "tracked"
        if ignored is None:
            return "outside"
        return "ignored" if ignored.returncode == 0 else "tracked"

    def _remotes(self) -> tuple[Remote, ...]:
        listed = self._translate_errors(["remote", "--verbose"])
        remotes: dict[Remote, None] = {}
        for line in listed.stdout.splitlines() if listed else ():
            name, _, address = line.partition("\t")
            remotes[Remote(name=name, url=address.rpartition(" (")[0])] = None
        return tuple(remotes)

    def _is_below_a_repository(self) -> bool:
        start = self._directory.resolve()
        return any((directory / ".git").exists() for directory in (start, *start.parents))

    def _translate_errors(self, arguments: Sequence[str]) -> CompletedProcess[str] | None:
        """Run git; None: the path is not in a work tree."""
        try:
            answer = self._run(arguments)
        except FileNotFoundError:
            raise NoAnswer("git is not installed") from None
        if answer.returncode <= 1:
            return answer
        if any(sign in answer.stderr for sign in _NO_WORK_TREE):
            return None
        complaint = answer.stderr.strip().partition("\n")[0].removeprefix("fatal: ")
        raise NoAnswer(f"git reports: {complaint or f'status {answer.returncode}'}")

    def _run(self, arguments: Sequence[str]) -> CompletedProcess[str]:
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
            self._silent = f"git did not respond within {self._patience:g} s"
            raise NoAnswer(self._silent) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            if not is_installed(self._program):
                raise FileNotFoundError from None
            raise NoAnswer(f"git cannot be run: {error.strerror or error}") from None


def is_installed(program: str) -> bool:
    """Return whether a program is in a directory on PATH.

    The error of starting it is not sufficient: it is EACCES if a directory is not readable.
    """
    from shutil import which

    return which(program) is not None


def git_environment() -> dict[str, str]:
    """Return the environment variables for git."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _USER_SETTINGS
    }
    return kept | _READ_ONLY_ENVIRONMENT
