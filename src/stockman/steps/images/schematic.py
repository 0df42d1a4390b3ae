"""Registers schematics with the Image Factory."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound, Refused
from stockman.model.names import SchematicId
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.ports import Ports


@record
class RegisterSchematic(Action):
    """Register a schematic; the factory only builds images of registered schematics."""

    kind: ClassVar[str] = "image.register"
    schematic: SchematicId
    text: str
    """The schematic in the format of the factory."""

    @property
    def summary(self) -> str:
        return f"register schematic {self.schematic[:12]} at the Image Factory"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"schematic/{self.schematic}",)

    async def done(self, ports: Ports) -> bool:
        try:
            await ports.to_images().schematic(self.schematic)
        except NotFound:
            return False
        return True

    async def run(self, ports: Ports) -> None:
        registered = await ports.to_images().register(self.text)
        if registered != self.schematic:
            raise Refused(schematic_id_mismatch(self.schematic, registered))


@record
class SchematicRegistered(Gate):
    """The factory knows a schematic that is configured by its id."""

    kind: ClassVar[str] = "image.schematic"
    schematic: SchematicId

    @property
    def summary(self) -> str:
        return f"the Image Factory knows schematic {self.schematic[:12]}"

    async def check(self, ports: Ports) -> Verdict:
        try:
            await ports.to_images().schematic(self.schematic)
        except NotFound:
            why = "it is not registered; write its content into cluster.yaml"
            return Verdict(answer=GateAnswer.STOP, because=why)
        return Verdict(answer=GateAnswer.GO, because="it is registered")


def schematic_id_mismatch(expected: str, registered: str) -> Problem:
    return Problem(
        code="image.schematic-id",
        what="the Image Factory returned another id for the schematic",
        where=f"schematic {expected[:12]}",
        why=f"expected {expected}, got {registered}: it interprets the schematic differently",
        fix="name the schematic by the id that the factory gives it",
    )
