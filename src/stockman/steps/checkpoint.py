"""A step that changes nothing and lets others pass once its gates do."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.ports import Ports


@record
class Checkpoint(Action):
    """Wait until the gates of the step are open."""

    kind: ClassVar[str] = "checkpoint"
    always_gated: ClassVar[bool] = True
    text: str
    """What is waited for: `wait until etcd has three healthy members`."""

    @property
    def summary(self) -> str:
        return self.text

    @property
    def touches(self) -> tuple[str, ...]:
        return ()

    async def done(self, ports: Ports) -> bool:
        return True

    async def run(self, ports: Ports) -> None:
        return
