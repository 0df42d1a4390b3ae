"""`ports.Editor` by the program that the user has chosen, on the user's terminal."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from stockman.ports.probe import NoAnswer

VARIABLES = ("SOPS_EDITOR", "VISUAL", "EDITOR")
_USUAL = ("vim", "nano", "vi")


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
        for program in _USUAL:
            if shutil.which(program, path=self._environment.get("PATH")):
                return [program]
        raise NoAnswer(f"none of {', '.join(VARIABLES)} is set, and no vim, nano or vi is there")
