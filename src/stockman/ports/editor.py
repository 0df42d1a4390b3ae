"""The user's editor."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Editor(Protocol):
    """Lets the user change a file."""

    def edit(self, path: Path) -> None:
        """Return when the user is done; `NoAnswer` where no editor runs, or it says it failed."""
        ...
