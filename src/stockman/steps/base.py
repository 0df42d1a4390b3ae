"""Actions, gates and holds: what a step does, its preconditions, and what it restores afterwards.

Each class is a record with a unique `kind`, which saved plans contain and which therefore never
changes. Fields have types that `serialization` can write (texts, numbers, enums, UUIDs, addresses,
times, other records, tuples and mappings of them). A `Secret` in a field is a `TypeError`: use a
`SecretRef`.

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
"""A JSON value."""


class PlanPart(ABC):
    """An action, a gate or a hold; it contains no secrets."""

    kind: ClassVar[str] = ""
    """`area.verb`, permanent. Empty: an abstract base class."""
    known: ClassVar[dict[str, type[PlanPart]]] = {}
    """All imported classes by kind."""

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
        """Description in one line, for readers of a plan."""

    @property
    def part_key(self) -> str:
        """Key that is equal for parts of one kind with equal values."""
        return f"{self.kind}:{digest(self)[:16]}"


class Action(PlanPart):
    """One change: it describes itself, checks whether it is already done, and does it.

    The engine calls `done`, `run`, `done`. Both may be called any number of times, also after a
    crash at any point: `run` must be safe to repeat, and raises `Refused` if the observed object is
    not the planned one (by identity, not by name).
    """

    always_gated: ClassVar[bool] = False
    """Whether gates are checked even if it is already done, as for steps that only wait."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What it does, in the imperative with the names of the user: `create VM 1030 (cp-1)`."""

    @property
    @abstractmethod
    def touches(self) -> tuple[str, ...]:
        """Identities of what it changes, such as `vm/k8s/1030`, `machine/cp-1`, `object/...`."""

    @property
    def destroys(self) -> str:
        """What is permanently lost: `VM 1030 (cp-1) with its disks`. Empty: nothing.

        The user has to confirm this text.
        """
        return ""

    @abstractmethod
    async def done(self, ports: Ports) -> bool:
        """Return whether it is already done; never changes anything. Unknown is an exception."""

    @abstractmethod
    async def run(self, ports: Ports) -> None:
        """Make the change."""


class GateAnswer(Enum):
    """The answer of a gate."""

    GO = "go"
    WAIT = "wait"
    """Not now; check again until the deadline."""
    STOP = "stop"
    """Waiting does not help."""


@record
class Verdict:
    """The answer of a gate, with the observed numbers."""

    answer: GateAnswer
    because: str
    fix: str = ""
    """What a person can do if waiting does not help. Empty: `because` says everything."""


class Gate(PlanPart):
    """A precondition of a step: it only reads, and does not open if in doubt."""

    opens_later: ClassVar[bool] = False
    """Whether `STOP` means "later": all other steps run in the meantime."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The condition: `etcd keeps its quorum without one more member`."""

    @abstractmethod
    async def check(self, ports: Ports) -> Verdict:
        """Return whether it holds; never changes anything."""


class Hold(PlanPart):
    """Something that is changed temporarily: a cordon, an HA pause, a suspension.

    Equal holds of several steps are shared: taken before the first step has an effect, and given
    back after the last one. The engine calls `prior`, writes the result to the journal, and then
    calls `take`, so a run that resumes after a crash knows what to restore. All three may be
    repeated; giving back a hold that was never taken changes nothing.
    """

    @property
    @abstractmethod
    def summary(self) -> str:
        """What is held: `node work-3 is cordoned`."""

    @abstractmethod
    async def prior(self, ports: Ports) -> Json:
        """Return the current state, as far as it has to be restored; never changes anything."""

    @abstractmethod
    async def take(self, ports: Ports) -> None:
        """Take the hold; does nothing if it is already taken."""

    @abstractmethod
    async def give_back(self, ports: Ports, prior: Json) -> None:
        """Restore the state that `prior` returned; later changes by others are kept."""


@record
class Checkpoint(Action):
    """Wait until the gates of the step open."""

    kind: ClassVar[str] = "checkpoint"
    always_gated: ClassVar[bool] = True
    text: str
    """Description of the wait: `wait until etcd has three healthy members`."""

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
