"""Run the git program without prompts, maintenance and guessed identities."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stockman.adapters.git.probe import OPTIONS, git_environment, is_installed
from stockman.model.secret import MASK
from stockman.ports import repository_errors as refusals

_MORE_OPTIONS = (
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "user.useConfigOnly=true"),
    *("-c", "core.quotePath=false"),
    *("-c", "advice.detachedHead=false"),
)
_TRANSPORT_VARIABLES = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_ASKPASS"),
    *("GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN"),
)
"""Variables of the user that configure access to remotes, also for credential helpers."""
_IDENTITY_VARIABLES = (
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
)
_CREDENTIALS = re.compile(r"//[^/@\s]*@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_LONGEST = 300


class GitOutput(NamedTuple):
    """The result of a git command."""

    status: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "surrogateescape")


class GitCommand:
    """Runs git commands in a directory."""

    def __init__(self, directory: Path, *, program: str, patience: float) -> None:
        self.directory = directory
        self._program = program
        self._patience = patience

    async def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> GitOutput:
        """Run a command; it has no terminal, so it cannot prompt."""
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                *OPTIONS,
                *_MORE_OPTIONS,
                *arguments,
                cwd=self.directory,
                env=_environment() | dict(variables or {}),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            if not self.directory.is_dir():
                raise refusals.not_a_repository(str(self.directory)) from None
            if not is_installed(self._program):
                raise refusals.git_missing() from None
            raise refusals.git_error(arguments[0], error.strerror or "it cannot be run") from None
        try:
            async with asyncio.timeout(self._patience):
                output, errors = await process.communicate(stdin)
        except TimeoutError:
            raise refusals.unreachable_remote(
                f"git {arguments[0]}", f"no response within {self._patience:g} s"
            ) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                await process.wait()
        return GitOutput(process.returncode or 0, output, errors.decode("utf-8", "replace"))

    async def output(
        self,
        *arguments: str,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command and return its output as text; raises if it fails."""
        result = await self.run(*arguments, stdin=stdin, variables=variables)
        if result.status != 0:
            raise refusals.git_error(f"git {arguments[0]}", error_text(result))
        return result.text


def error_text(result: GitOutput) -> str:
    """Return the error message of git as one clause without credentials."""
    lines = [line for line in result.errors.splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    text = first or (lines[0] if lines else f"status {result.status}")
    text = text.removeprefix("fatal: ").removeprefix("error: ")
    return printable(text)


def printable(text: str) -> str:
    """Return a text without credentials and control characters."""
    return _CREDENTIALS.sub(f"//{MASK}@", _CONTROL.sub(" ", text)).strip()[:_LONGEST]


def _environment() -> dict[str, str]:
    kept = {
        name: os.environ[name]
        for name in (*_TRANSPORT_VARIABLES, *_IDENTITY_VARIABLES)
        if name in os.environ
    }
    return git_environment() | {"SSH_ASKPASS_REQUIRE": "never"} | kept
