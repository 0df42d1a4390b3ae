"""The git program, run without anything that could make it ask, guess or do more."""

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
_TRANSPORT_VARIABLES = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_ASKPASS")
"""How remotes are reached is the user's affair, also without a terminal."""
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
    """What git answered."""

    status: int
    output: bytes
    complaint: str

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "surrogateescape")


class GitCommand:
    """Runs git in a directory."""

    def __init__(self, directory: Path, *, program: str, patience: float) -> None:
        self.directory = directory
        self._program = program
        self._patience = patience

    async def run(
        self,
        *arguments: str,
        given: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> GitOutput:
        """What git answers; it has no terminal, so nothing that it starts can ask anybody."""
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
                output, complaint = await process.communicate(given)
        except TimeoutError:
            raise refusals.unreachable_remote(
                f"git {arguments[0]}", f"no answer within {self._patience:g} s"
            ) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
                await process.wait()
        return GitOutput(process.returncode or 0, output, complaint.decode("utf-8", "replace"))

    async def told(
        self,
        *arguments: str,
        given: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> str:
        """The text that git answers; raises where it refuses."""
        said = await self.run(*arguments, given=given, variables=variables)
        if said.status != 0:
            raise refusals.git_error(f"git {arguments[0]}", error_text(said))
        return said.text


def error_text(said: GitOutput) -> str:
    """What git complains about, as one clause without credentials."""
    lines = [line for line in said.complaint.splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    text = first or (lines[0] if lines else f"status {said.status}")
    text = text.removeprefix("fatal: ").removeprefix("error: ")
    return printable(text)


def printable(text: str) -> str:
    """A text for people, without credentials and control characters."""
    return _CREDENTIALS.sub(f"//{MASK}@", _CONTROL.sub(" ", text)).strip()[:_LONGEST]


def _environment() -> dict[str, str]:
    kept = {
        name: os.environ[name]
        for name in (*_TRANSPORT_VARIABLES, *_IDENTITY_VARIABLES)
        if name in os.environ
    }
    return git_environment() | {"SSH_ASKPASS_REQUIRE": "never"} | kept
