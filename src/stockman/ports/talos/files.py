"""Files of a machine, and its META values."""

from __future__ import annotations

from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.secret import Secret


class Files(Protocol):
    """Files and META values."""

    async def read_file(self, node: MachineAddress, path: str) -> bytes:
        """The content of a file. `NotFound` where there is none."""
        ...

    async def write_meta(self, node: MachineAddress, key: int, value: Secret) -> None:
        """Set a META value."""
        ...

    async def delete_meta(self, node: MachineAddress, key: int) -> None:
        """Take a META value away. `NotFound` where there is none."""
        ...
