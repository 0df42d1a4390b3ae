"""What a controller is: it says which keys a change is about, and brings one key in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from stockman_lab.core.dice import Dice
from stockman_lab.kube.controllers.client import Client
from stockman_lab.kube.controllers.objects import ObjectChange, Objects
from stockman_lab.kube.controllers.recorder import Recorder
from stockman_lab.kube.objects import written_time


class Later(Protocol):
    """Plans a look at something."""

    def __call__(self, name: str, key: str, moment: float, *, patient: bool) -> None:
        """Of a controller, at a key, at a moment."""
        ...


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """What all controllers of a cluster work with."""

    objects: Objects
    client: Client
    dice: Dice
    clock: Callable[[], float]
    later: Later
    """Has a controller look at a key again at a moment."""
    notes: dict[str, str]
    root_ca: Callable[[], str]
    """The certificate of the authority of the cluster, as PEM."""
    silent_since: Callable[[str], float | None]
    """When the kubelet of a node was heard last; None: it can be heard."""


class Retry(Exception):
    """Something has to be tried again."""


class Controller:
    """One of the controllers."""

    name: ClassVar[str]
    component: ClassVar[str] = ""
    """As events name it."""
    watches: ClassVar[tuple[str, ...]]
    """Plurals of what it looks at, of custom kinds with their groups; empty: everything."""

    def __init__(self, context: ControllerContext) -> None:
        self.context = context
        self.objects = context.objects
        self.client = context.client
        self.recorder = Recorder(context.objects, context.client, context.clock, self.component)

    @property
    def now(self) -> float:
        return self.context.clock()

    @property
    def today(self) -> str:
        """This moment as objects write it."""
        return written_time(self.now)

    def remember(self) -> None:
        """Know again what was known when the world was saved, where more than objects is."""

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """What has to be looked at after a change; the object itself unless told otherwise."""
        return (change.name,)

    def sync(self, key: str) -> None:
        """Bring one key in order; raises `Refused` or `Retry`."""
        raise NotImplementedError

    def look_again(self, key: str, moment: float, *, patient: bool = False) -> None:
        """Look at a key at a moment, if not before; nobody hurries for a patient look."""
        self.context.later(self.name, key, moment, patient=patient)

    def has_waited(self, key: str, note: str, seconds: tuple[float, float]) -> bool:
        """Whether something that takes a while is over; it begins when first asked about."""
        moment = self.context.notes.get(note)
        if moment is None:
            moment = str(self.now + self.context.dice.between(*seconds))
            self.context.notes[note] = moment
        if float(moment) > self.now:
            self.look_again(key, float(moment))
            return False
        del self.context.notes[note]
        return True
