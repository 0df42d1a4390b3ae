"""Apps that cannot be installed yet, as a secret of theirs is not there."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Answer, Gate, Verdict
from stockman.steps.ports import Ports


@record
class NothingPending(Gate):
    """Everything that comes before Flux was rendered with its secrets.

    The plan was made without what is pending: with its secrets rendered, another one is needed.
    """

    kind: ClassVar[str] = "kube.nothing-pending"
    pending: tuple[str, ...]
    """What waits, and for what."""

    @property
    def summary(self) -> str:
        return "nothing that comes before Flux waits for a secret"

    async def check(self, ports: Ports) -> Verdict:
        if not self.pending:
            return Verdict(answer=Answer.GO, because="all of it was rendered")
        told = "; ".join(self.pending)
        return Verdict(
            answer=Answer.STOP,
            because=f"{told}: run `stockman render`, commit and push, then apply again",
        )
