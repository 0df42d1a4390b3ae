"""Files of the repository, written as they are rendered."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.ports import Ports


@record
class RenderTree(Action):
    """Write every rendered file that is not on disk as it should be.

    Tokens that Proxmox VE chose are read from where they are kept, so this comes after access.
    """

    kind: ClassVar[str] = "tree.render"
    cluster: str

    @property
    def summary(self) -> str:
        return f"render the repository of {self.cluster}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"tree/{self.cluster}",)

    async def done(self, ports: Ports) -> bool:
        return not await ports.to_tree().differing()

    async def run(self, ports: Ports) -> None:
        await ports.to_tree().render()
