"""What a test does with a lab besides asking it: faults, time, and looks into the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.world.world import World


@dataclass(slots=True, kw_only=True)
class SteeredLab:
    """A running lab, and how to steer it."""

    world: World
    """What is simulated; look at it as you like, change it through `run`."""
    run: Callable[[Callable[[], object]], object]
    """Carries a function out where the world is served, so that nothing else happens meanwhile."""
    jump: Callable[[float], None]
    """Lets time pass; `advance` calls it where the world is served."""

    def fault(  # noqa: PLR0913  # what a fault can be told, each by its name
        self,
        point: str,
        effect: str,
        *,
        times: int | None = 1,
        seconds: float = 0.0,
        message: str = "",
        status: int = 0,
        **match: str,
    ) -> int:
        """Let something go wrong where the facts that are named fit; returns its number."""
        fault = Fault(
            Point(point),
            Effect(effect),
            match,
            message=message,
            status=status,
            seconds=seconds,
            times=times,
        )

        def strike() -> None:
            self.world.faults.add(fault)
            self.world.strike()
            self.world.settle()

        self.run(strike)
        return fault.number

    def take_back(self, number: int) -> None:
        """End a fault."""
        self.run(lambda: self.world.take_back(number))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.run(lambda: self.jump(seconds))

    def settle(self) -> None:
        """Let everything happen that is on its way."""
        self.run(self.world.settle)
