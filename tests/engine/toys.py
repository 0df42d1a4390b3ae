"""Actions, gates and holds on objects: small enough that every moment of a run can be tried."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar

from stockman.engine.context import RunSettings, StopRequest
from stockman.engine.lifecycle import RunHome, RunOptions
from stockman.engine.object_lock import ObjectLock
from stockman.engine.runs import ObjectRunStore, read_object
from stockman.model.errors import NotFound, Refused, Unreachable
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Hold, Json, Verdict
from stockman.steps.plan import Plan, build_plan
from stockman.steps.ports import Ports
from stockman.steps.step import Retry, Stage, Step
from tests.engine.simulated import MORNING, Dice, JumpClock
from tests.engine.storage import Bomb, Storage, Stored


async def pieces(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def text_of(ports: Ports, key: str) -> str:
    try:
        return (await read_object(ports.to_objects(), key)).decode()
    except NotFound:
        return ""


@record
class Make(Action):
    """Write an object that is not there."""

    kind: ClassVar[str] = "test.make"
    key: str

    @property
    def summary(self) -> str:
        return f"make {self.key}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/{self.key}",)

    async def done(self, ports: Ports) -> bool:
        return bool(await text_of(ports, self.key))

    async def run(self, ports: Ports) -> None:
        await ports.to_objects().put(self.key, pieces("made"))


@record
class Pretend(Make):
    """Say that an object was written."""

    kind: ClassVar[str] = "test.pretend"

    async def run(self, ports: Ports) -> None:
        return


@record
class Break(Make):
    """Never works."""

    kind: ClassVar[str] = "test.break"

    async def run(self, ports: Ports) -> None:
        from tests.engine.storage import trouble

        raise Refused(trouble(Refused, self.key).problem)


@record
class Asleep(Make):
    """Nobody answers, ever."""

    kind: ClassVar[str] = "test.asleep"

    async def done(self, ports: Ports) -> bool:
        return False

    async def run(self, ports: Ports) -> None:
        from tests.engine.storage import trouble

        raise trouble(Unreachable, self.key)


@record
class Later(Gate):
    """A gate whose time has not come until an object is there."""

    kind: ClassVar[str] = "test.later"
    opens_later: ClassVar[bool] = True
    key: str

    @property
    def summary(self) -> str:
        return f"{self.key} has come"

    async def check(self, ports: Ports) -> Verdict:
        if await text_of(ports, self.key):
            return Verdict(answer=GateAnswer.GO, because="it has")
        return Verdict(answer=GateAnswer.STOP, because="it has not", fix="come again")


@record
class Exists(Gate):
    """An object is there."""

    kind: ClassVar[str] = "test.exists"
    key: str
    never: bool = False

    @property
    def summary(self) -> str:
        return f"{self.key} is there"

    async def check(self, ports: Ports) -> Verdict:
        if await text_of(ports, self.key):
            return Verdict(answer=GateAnswer.GO, because="1 of 1")
        answer = GateAnswer.STOP if self.never else GateAnswer.WAIT
        return Verdict(answer=answer, because="0 of 1")


@record
class Flag(Hold):
    """A flag that is down as long as somebody works."""

    kind: ClassVar[str] = "test.flag"
    name: str

    @property
    def summary(self) -> str:
        return f"flag {self.name} is down"

    async def prior(self, ports: Ports) -> Json:
        return await text_of(ports, f"flag/{self.name}")

    async def take(self, ports: Ports) -> None:
        if await text_of(ports, f"flag/{self.name}") != "down":
            await ports.to_objects().put(f"flag/{self.name}", pieces("down"))

    async def give_back(self, ports: Ports, prior: Json) -> None:
        if await text_of(ports, f"flag/{self.name}") == "down":
            await ports.to_objects().put(f"flag/{self.name}", pieces(str(prior)))


def make(name: str, *needs: str, action: Action | None = None, **more: object) -> Step:
    return Step(
        id=name,
        action=action or Make(key=name),
        stage=Stage.VMS,
        needs=needs,
        **{"retry": Retry(attempts=3), **more},  # type: ignore[arg-type]  # fields of a step
    )


def plan_of(*steps: Step, **more: object) -> Plan:
    return build_plan(Plan(cluster="toy", made_at=MORNING, steps=steps, **more))  # type: ignore[arg-type]


class Scene:
    """A toy world, and the place where runs are written down."""

    def __init__(self) -> None:
        self.clock = JumpClock()
        self.world = Storage()
        self.world.content |= {"flag/red": b"up", "flag/blue": b"half"}
        self.kept = Storage()
        self._processes = 0
        self.objects = Stored(self.world)

    def process(self, bomb: Bomb | None = None) -> tuple[RunHome, Ports]:
        """A new process: what it sees of the world and of the runs."""
        self._processes += 1
        self.objects = Stored(self.world, bomb)
        kept = Stored(self.kept, bomb)
        ports = Ports(clock=self.clock, entropy=Dice(self._processes), objects=self.objects)
        lock = ObjectLock(kept, self.clock, "s3://flock")
        return RunHome(runs=ObjectRunStore(kept, self.clock), lock=lock), ports

    @property
    def made(self) -> dict[str, str]:
        return {key: content.decode() for key, content in self.world.content.items()}


def way(stop: StopRequest | None = None, **more: object) -> RunOptions:
    return RunOptions(by="anna", stop=stop or StopRequest(), **more)  # type: ignore[arg-type]


ONE_AT_A_TIME = RunSettings(max_parallel=1)
