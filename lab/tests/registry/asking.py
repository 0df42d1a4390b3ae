"""A registry for tests, with the factory behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from stockman_lab.core.faults import Effect, Fault, Faults, Point
from stockman_lab.factory.schematics import post_schematic
from stockman_lab.factory.state import FactoryState
from stockman_lab.http.messages import Response
from stockman_lab.registry.pulling import PulledImage, PullFailed, pull
from stockman_lab.registry.registry import Ask, Registry
from stockman_lab.registry.state import RegistryState

from stockman.talos.schematic import ImageSchematic, schematic_id

NOW = 1_767_225_600.0
AGENT = ImageSchematic(extensions=("siderolabs/qemu-guest-agent",))
AGENT_ID = schematic_id(AGENT)
INSTALLER = f"factory.talos.dev/nocloud-installer/{AGENT_ID}:v1.13.9"


@dataclass
class Store:
    """A registry and what goes wrong in it."""

    state: RegistryState = field(default_factory=RegistryState)
    factory: FactoryState = field(default_factory=FactoryState)
    faults: Faults = field(default_factory=Faults)
    now: float = NOW

    def __post_init__(self) -> None:
        post_schematic(self.factory, AGENT)
        self.registry = Registry(self.state, self.factory, self.faults, lambda: self.now)

    def let(self, effect: Effect, **more: object) -> Fault:
        return self.faults.add(Fault(Point.REGISTRY, effect, **more))  # type: ignore[arg-type]

    def ask(self, path: str, method: str = "GET", body: bytes = b"", kind: str = "") -> Response:
        where, _, query = path.partition("?")
        answer = self.registry.answer(
            Ask(
                path=f"/v2/{where}",
                method=method,
                query=query,
                body=body,
                headers={"content-type": kind} if kind else {},
            )
        )
        assert isinstance(answer.outcome, Response)
        return answer.outcome

    def pulled(self, name: str = INSTALLER, client: str = "work-1") -> PulledImage:
        pulled_image = pull(self.registry, name, client=client)
        assert isinstance(pulled_image, PulledImage), pulled_image
        return pulled_image

    def failed(self, name: str = INSTALLER, client: str = "work-1") -> str:
        result = pull(self.registry, name, client=client)
        assert isinstance(result, PullFailed), result
        return result.text


def code(response: Response) -> tuple[int, str]:
    """Status and code of an error."""
    data = json.loads(response.body)
    return response.status, data["errors"][0]["code"]
