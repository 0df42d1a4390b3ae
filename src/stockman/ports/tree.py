"""The files that are rendered for a cluster, beside its configuration."""

from __future__ import annotations

from typing import Protocol


class Tree(Protocol):
    """One rendered tree of files.

    `Refused`: the configuration has mistakes, or files wait for the user's decision.
    """

    async def differing(self) -> tuple[str, ...]:
        """Paths of files that are not as they would be rendered now, sorted."""
        ...

    async def render(self) -> None:
        """Write every file as it is rendered; all of them, or none."""
        ...
