"""Programs of the user that hand out age identities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class KeyCommand(Protocol):
    """Runs the command that `SOPS_AGE_KEY_CMD` names."""

    def output(self, command: str, extra: Mapping[str, str]) -> bytes:
        """What the command prints, with more variables in its environment.

        `NoAnswer` where it cannot be run, fails or takes too long; its words are kept back,
        because they may hold a key.
        """
        ...
