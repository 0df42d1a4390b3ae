"""Programs of the user: the editor, and the command that prints a key."""

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
    """Runs the editor in `SOPS_EDITOR`, `VISUAL` or `EDITOR`, else vim, nano or vi."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def edit(self, path: Path) -> None:
        import subprocess

        command = self._command()
        try:
            result = subprocess.run([*command, str(path)], check=False)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise NoAnswer(f"{command[0]} cannot be run: {reason}") from None
        if result.returncode != 0:
            raise NoAnswer(f"{command[0]} exited with status {result.returncode}")

    def _command(self) -> list[str]:
        for variable in VARIABLES:
            command = self._environment.get(variable, "")
            if not command.strip():
                continue
            try:
                return shlex.split(command)
            except ValueError:
                raise NoAnswer(f"${variable} contains an unclosed quote") from None
        if not os.isatty(0):
            raise NoAnswer(f"there is no terminal, and none of {', '.join(VARIABLES)} is set")
        for program in _DEFAULT_EDITORS:
            if shutil.which(program, path=self._environment.get("PATH")):
                return [program]
        raise NoAnswer(
            f"none of {', '.join(VARIABLES)} is set, and vim, nano and vi are not installed"
        )


_TIMEOUT = 60.0
"""Seconds; a password manager may prompt its user."""
_MAX_BYTES = 1 << 20


class ProgramKeyCommand:
    """Runs the command on the terminal of the user, so that it can prompt for a passphrase."""

    def __init__(self, *, patience: float = _TIMEOUT) -> None:
        self._patience = patience

    def output(self, command: str, extra: Mapping[str, str]) -> bytes:
        import subprocess

        try:
            arguments = shlex.split(command)
        except ValueError:
            raise NoAnswer("it contains an unclosed quote") from None
        if not arguments:
            raise NoAnswer("it is empty")
        try:
            result = subprocess.run(
                arguments,
                env=os.environ | extra,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=self._patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"it did not finish within {self._patience:g} s") from None
        except OSError as error:
            raise NoAnswer(f"it cannot be run: {error.strerror or type(error).__name__}") from None
        if result.returncode != 0:
            raise NoAnswer(f"it exited with status {result.returncode}")
        if len(result.stdout) > _MAX_BYTES:
            raise NoAnswer("its output is too large for a key")
        return result.stdout
