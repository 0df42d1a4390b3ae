"""A factory for tests, and requests to it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Effect, Fault, Faults, Point
from stockman_lab.factory.handler import FactoryHandler
from stockman_lab.factory.schematics import post_schematic
from stockman_lab.factory.state import EMPTY_ID, FactoryState
from stockman_lab.http.faulty import DelayedOutcome
from stockman_lab.http.messages import Request, Response

from stockman.talos.schematic import ImageSchematic

NOW = 1_767_225_600.0
HOST = "127.66.0.5:8080"


@dataclass
class Factory:
    """A factory and what goes wrong in it."""

    state: FactoryState = field(default_factory=FactoryState)
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self.face = FactoryHandler(self.state, self.faults, lambda: NOW, Dice(1).random_bytes)

    def let(self, effect: Effect, **more: object) -> None:
        self.faults.add(Fault(Point.FACTORY, effect, **more))  # type: ignore[arg-type]

    def knows(self, schematic: ImageSchematic) -> str:
        return post_schematic(self.state, schematic)

    def told(
        self, target: str, method: str = "GET", body: bytes = b"", **headers: str
    ) -> DelayedOutcome:
        named = {"host": HOST, **{name.replace("_", "-"): text for name, text in headers.items()}}
        return self.face.answer(Request(method, target, named, body, "127.0.0.1", False))

    def ask(self, target: str, method: str = "GET", body: bytes = b"", **headers: str) -> Response:
        outcome = self.told(target, method, body, **headers).outcome
        assert isinstance(outcome, Response)
        return outcome

    def read(self, target: str) -> object:
        result = self.ask(target)
        assert result.status == 200
        return json.loads(result.body)

    def image(self, file: str, version: str = "v1.13.9", schematic: str = EMPTY_ID) -> Response:
        return self.ask(f"/image/{schematic}/{version}/{file}")


def refusal(response: Response) -> tuple[int, str]:
    """Status and text of an error."""
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    text = response.body.decode()
    assert text.endswith("\n")
    return response.status, text.removesuffix("\n")
