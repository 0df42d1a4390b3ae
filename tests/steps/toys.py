"""Small actions, gates and holds on a world that is one dictionary."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from ipaddress import IPv4Interface
from typing import ClassVar
from uuid import UUID

from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Hold, Json, Verdict
from stockman.steps.plan import Plan, build_plan
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.step import Stage, Step

MORNING = datetime(2026, 3, 1, 6, 0, tzinfo=UTC)


class Colour(Enum):
    RED = "red"
    GREEN = "green"


@record
class Spot:
    at: IPv4Interface
    colour: Colour = Colour.RED


@record
class Paint(Action):
    """Every type of field that a plan may hold."""

    kind: ClassVar[str] = "toy.paint"
    vmid: Vmid
    uuid: UUID
    spots: tuple[Spot, ...] = ()
    password: SecretRef | None = None
    labels: tuple[tuple[str, int], ...] = ()
    when: datetime = MORNING

    @property
    def summary(self) -> str:
        return f"paint VM {self.vmid}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"vm/toy/{self.vmid}",)

    @property
    def destroys(self) -> str:
        return f"the old paint of VM {self.vmid}"

    async def done(self, ports: Ports) -> bool:
        return False

    async def run(self, ports: Ports) -> None:
        return


@record
class Dry(Gate):
    kind: ClassVar[str] = "toy.dry"
    humidity: float = 0.5

    @property
    def summary(self) -> str:
        return "the wall is dry"

    async def check(self, ports: Ports) -> Verdict:
        return Verdict(answer=GateAnswer.GO, because="dry")


@record
class Ladder(Hold):
    kind: ClassVar[str] = "toy.ladder"
    name: str

    @property
    def summary(self) -> str:
        return f"ladder {self.name} is ours"

    async def prior(self, ports: Ports) -> Json:
        return None

    async def take(self, ports: Ports) -> None:
        return

    async def give_back(self, ports: Ports, prior: Json) -> None:
        return


def paint(number: int, *needs: int, stage: Stage = Stage.VMS, node: str = "") -> Step:
    """A step called `p<number>` that paints VM <number> after others."""
    return Step(
        id=f"p{number}",
        action=Paint(vmid=Vmid(number), uuid=UUID(int=number)),
        stage=stage,
        needs=tuple(f"p{need}" for need in needs),
        node=node,
    )


def plan_of(*steps: Step) -> Plan:
    touched = {identity: "seen" for step in steps for identity in step.action.touches}
    return build_plan(Plan(cluster="toy", made_at=MORNING, steps=steps, touched=touched))
