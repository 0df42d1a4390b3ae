"""Actions, gates and holds: what a step does, what has to be true first, what it borrows.

A class of them is a record with a `kind` that no other class has; the kind is what a saved plan
says, so it stays for ever. Fields are of the types that `form` can write (texts, numbers, enums,
UUIDs, addresses, moments, other records, tuples and mappings of them). A `Secret` in a field is a
`TypeError`: name its place with a `SecretRef`.

    @record
    class DestroyVm(Action):
        kind: ClassVar[str] = "vm.destroy"
        cluster: str
        vmid: Vmid
        ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import ClassVar, Self

from stockman.model.record import record
from stockman.model.secret import find_secrets
from stockman.steps.digest import digest
from stockman.steps.ports import Ports

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""What can be written as JSON."""


class PlanPart(ABC):
    """An action, a gate or a hold: known by its kind, and without secrets."""

    kind: ClassVar[str] = ""
    """`area.verb`, for ever. Empty: not a part of plans itself, but a base of some."""
    known: ClassVar[dict[str, type[PlanPart]]] = {}
    """Every class that was imported, by kind."""

    def __init_subclass__(cls) -> None:
        kind = cls.__dict__.get("kind", "")
        if not kind:
            return
        known_class = PlanPart.known.setdefault(kind, cls)
        if (known_class.__module__, known_class.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__qualname__} and {known_class.__qualname__} are both {kind}")

    def __new__(cls, *_: object, **values: object) -> Self:
        for name, _secret in find_secrets(values):
            raise TypeError(f"{cls.__name__}.{name} is a secret: give a SecretRef")
        return super().__new__(cls)

    @property
    @abstractmethod
    def summary(self) -> str:
        """What it is, in one line for whoever reads a plan."""

    @property
    def part_key(self) -> str:
        """The same for parts of one kind with the same values."""
        return f"{self.kind}:{digest(self)[:16]}"


class Action(PlanPart):
    """One change: it can say itself, tell whether it is true already, and make it true.

    The engine calls `done`, `run`, `done`. Both may be called any number of times, after a crash
    at any point: `run` must be safe to repeat, and stops with `Refused` when what it finds is not
    what it was planned for (identities, not names).
    """

    always_gated: ClassVar[bool] = False
    """Whether gates are asked even where it is done already; so are steps that only wait."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What it does, in the imperative with the user's own names: `create VM 1030 (cp-1)`."""

    @property
    @abstractmethod
    def touches(self) -> tuple[str, ...]:
        """Identities of what it changes, such as `vm/k8s/1030`, `machine/cp-1`, `object/...`."""

    @property
    def destroys(self) -> str:
        """What is lost for good, in plain words: `VM 1030 (cp-1) with its disks`. Empty: nothing.

        The user is asked with these words.
        """
        return ""

    @abstractmethod
    async def done(self, ports: Ports) -> bool:
        """Whether it is true already; reads and never changes. Unknown is an exception."""

    @abstractmethod
    async def run(self, ports: Ports) -> None:
        """Make it true."""


class GateAnswer(Enum):
    """What a gate says."""

    GO = "go"
    WAIT = "wait"
    """Not now; ask again until the deadline."""
    STOP = "stop"
    """Waiting cannot help."""


@record
class Verdict:
    """The answer of a gate, with the numbers that it saw."""

    answer: GateAnswer
    because: str
    fix: str = ""
    """What a person can do where waiting cannot help. Empty: what `because` says is all."""


class Gate(PlanPart):
    """A condition that holds before a step has an effect: read-only, and closed when in doubt."""

    opens_later: ClassVar[bool] = False
    """Whether `STOP` means that its time has not come: everything else is done in the meantime."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The condition: `etcd keeps its quorum without one more member`."""

    @abstractmethod
    async def check(self, ports: Ports) -> Verdict:
        """Whether it holds; reads and never changes."""


class Hold(PlanPart):
    """Something taken and owed back: a cordon, an HA pause, a suspension.

    Equal holds of several steps are one: it is taken before the first of them has an effect and
    given back after the last. The engine calls `prior`, writes the answer into the journal, and
    only then calls `take`: whoever goes on after a crash knows what to give back. All three may
    be repeated; giving back what was never taken changes nothing.
    """

    @property
    @abstractmethod
    def summary(self) -> str:
        """What is held: `node work-3 is cordoned`."""

    @abstractmethod
    async def prior(self, ports: Ports) -> Json:
        """What is there before, as far as it has to be put back; reads and never changes."""

    @abstractmethod
    async def take(self, ports: Ports) -> None:
        """Take it; what is taken already stays so."""

    @abstractmethod
    async def give_back(self, ports: Ports, prior: Json) -> None:
        """Put back what `prior` saw; what others changed since is left alone."""


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
