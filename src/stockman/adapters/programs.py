"""`ports.Editor` by the program that the user has chosen, on the user's terminal."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from stockman.ports.environment import NoAnswer

VARIABLES = ("SOPS_EDITOR", "VISUAL", "EDITOR")
_DEFAULT_EDITORS = ("vim", "nano", "vi")


class ProgramEditor:
    """Runs what `SOPS_EDITOR`, `VISUAL` or `EDITOR` names, else vim, nano or vi."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def edit(self, path: Path) -> None:
        import subprocess

        words = self._words()
        try:
            done = subprocess.run([*words, str(path)], check=False)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise NoAnswer(f"{words[0]} cannot be run: {reason}") from None
        if done.returncode != 0:
            raise NoAnswer(f"{words[0]} ended with status {done.returncode}")

    def _words(self) -> list[str]:
        for variable in VARIABLES:
            command = self._environment.get(variable, "")
            if not command.strip():
                continue
            try:
                return shlex.split(command)
            except ValueError:
                raise NoAnswer(f"a quote in ${variable} is not closed") from None
        if not os.isatty(0):
            raise NoAnswer(f"there is no terminal, and none of {', '.join(VARIABLES)} is set")
        for program in _DEFAULT_EDITORS:
            if shutil.which(program, path=self._environment.get("PATH")):
                return [program]
        raise NoAnswer(f"none of {', '.join(VARIABLES)} is set, and no vim, nano or vi is there")


_TIMEOUT = 60.0
"""Seconds: a password manager may ask its user first."""
_MAX_BYTES = 1 << 20


class ProgramKeyCommand:
    """Runs the command with the terminal of the user, so that it can ask for a passphrase."""

    def __init__(self, *, patience: float = _TIMEOUT) -> None:
        self._patience = patience

    def output(self, command: str, extra: Mapping[str, str]) -> bytes:
        import subprocess

        try:
            words = shlex.split(command)
        except ValueError:
            raise NoAnswer("a quote in it is not closed") from None
        if not words:
            raise NoAnswer("it is empty")
        try:
            done = subprocess.run(
                words,
                env=os.environ | extra,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self._patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"it did not end within {self._patience:g} s") from None
        except OSError as error:
            raise NoAnswer(f"it cannot be run: {error.strerror or type(error).__name__}") from None
        if done.returncode != 0:
            raise NoAnswer(f"it ended with status {done.returncode}")
        if len(done.stdout) > _MAX_BYTES:
            raise NoAnswer("it printed more than any key has")
        return done.stdout
