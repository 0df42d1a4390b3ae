"""`ports.KeyCommand` by a process without a shell, as SOPS runs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from stockman.ports.probe import NoAnswer

_PATIENCE = 60.0
"""Seconds: a password manager may ask its user first."""
_LONGEST = 1 << 20


class KeyProcess:
    """Runs the command with the terminal of the user, so that it can ask for a passphrase."""

    def __init__(self, *, patience: float = _PATIENCE) -> None:
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
        if len(done.stdout) > _LONGEST:
            raise NoAnswer("it printed more than any key has")
        return done.stdout
