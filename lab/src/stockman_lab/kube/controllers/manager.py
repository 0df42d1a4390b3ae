"""All controllers of a cluster at work: changes fill their queues, the timeline empties them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from stockman_lab.core.dice import Dice
from stockman_lab.core.state import state
from stockman_lab.core.timeline import Arguments
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext, Retry
from stockman_lab.kube.controllers.objects import ObjectChange, Objects
from stockman_lab.kube.controllers.registry import CONTROLLERS
from stockman_lab.kube.store.bell import Bell
from stockman_lab.kube.store.store import Store


@state
class ControllersState:
    """Queues of the controllers of one cluster."""

    seen: int = 0
    """The revision up to which changes were noticed."""
    queues: dict[str, dict[str, int]] = field(default_factory=dict)
    """By controller, keys in the order in which they came, with the revision that brought them."""
    planned: set[str] = field(default_factory=set)
    """Controllers that are going to work."""
    later: dict[str, float] = field(default_factory=dict)
    """When a controller looks at a key again, by `controller key`."""
    tries: dict[str, int] = field(default_factory=dict)
    """How often something failed in a row, by `controller key`."""
    notes: dict[str, str] = field(default_factory=dict)
    """What controllers remember that no object says, by `controller what`."""


SECONDS: dict[str, tuple[float, float]] = {
    "sync": (0.005, 0.06),
    "garbage-collector": (0.05, 0.4),
    "namespace": (0.1, 0.5),
    "endpointslice": (0.02, 0.15),
    "endpoints": (0.02, 0.15),
    "disruption": (0.01, 0.1),
    "attachdetach": (0.1, 0.3),
    "persistentvolume-binder": (0.05, 0.3),
    "gitrepository": (0.2, 0.9),
    "ocirepository": (0.3, 1.2),
    "helmrepository": (0.4, 1.5),
    "kustomization": (0.05, 0.4),
}
"""By controller; those that are not named take as long as `sync` says."""
LEAST_BACKOFF = 0.005
MOST_BACKOFF = 1000.0
MOST_TRIES = 15


def latency(controller: str, dice: Dice) -> float:
    """Seconds from a change until a controller acts on it."""
    low, high = SECONDS.get(controller, SECONDS["sync"])
    return dice.between(low, high)


def backoff(tries: int) -> float:
    """Seconds until something that failed so many times is tried again."""
    return min(LEAST_BACKOFF * 2.0**tries, MOST_BACKOFF)


class ToldBell(Bell):
    """A bell that also calls somebody who does not wait."""

    def __init__(self, listeners: list[Callable[[], None]]) -> None:
        super().__init__()
        self.listeners = listeners

    def ring(self) -> None:
        """Wake all who wait, and call all who listen."""
        super().ring()
        for listener in self.listeners:
            listener()


def listen(store: Store, listener: Callable[[], None]) -> None:
    """Have somebody called at every write; before anybody waits for the bell."""
    if isinstance(store.bell, ToldBell):
        store.bell.listeners.append(listener)
    else:
        store.bell = ToldBell([listener])


def silence(store: Store) -> None:
    """Wake those who wait, and call nobody any more."""
    if isinstance(store.bell, ToldBell):
        store.bell.listeners.clear()
    store.bell.ring()


WORK = "kube.controllers.work"
AGAIN = "kube.controllers.again"


class Planner(Protocol):
    """The part of a timeline that controllers need."""

    @property
    def now(self) -> float: ...

    def at(
        self, moment: float, name: str, arguments: Mapping[str, object], *, patient: bool = False
    ) -> None: ...


class Controllers:
    """The controllers of one cluster."""

    def __init__(  # noqa: PLR0913  # all that controllers work with
        self,
        api: Api,
        state: ControllersState,
        timeline: Planner,
        dice: Dice,
        *,
        cluster: str = "",
        is_served: Callable[[], bool] = lambda: True,
        root_ca: Callable[[], str] = lambda: "",
        silent_since: Callable[[str], float | None] = lambda _: None,
        kinds: tuple[type[Controller], ...] | None = None,
    ) -> None:
        self.state = state
        self._timeline = timeline
        self._dice = dice
        self._cluster = cluster
        self._is_served = is_served
        self.objects = Objects(api.store)
        context = ControllerContext(
            self.objects,
            Client(api),
            dice,
            lambda: timeline.now,
            self._later,
            state.notes,
            root_ca,
            silent_since,
        )
        result = [kind(context) for kind in (CONTROLLERS if kinds is None else kinds)]
        self._controllers = {item.name: item for item in result}
        self._everywhere = [item for item in result if not item.watches]
        self._watching: dict[str, list[Controller]] = {}
        for item in result:
            for plural in item.watches:
                self._watching.setdefault(plural, []).append(item)
        if state.seen and state.seen == api.store.keyspace.revision:
            self.objects.fill()
            for item in result:
                item.remember()
        self._store = api.store
        listen(api.store, self.notice)

    def retire(self) -> None:
        """Listen to nothing any more; others work with the same state."""
        silence(self._store)

    def notice(self) -> None:
        """Look at what changed; also after the API of the cluster came back."""
        if not self._is_served():
            return
        self.state.seen, changes = self.objects.changes(self.state.seen)
        for change in changes:
            self._tell(change)
        queues, planned = self.state.queues, self.state.planned
        ready = {name for name, keys in queues.items() if keys and name not in planned}
        for name in self._controllers if ready else ():
            if name in ready:
                self._plan(name)

    def look_at(self, controller: str, key: str) -> None:
        """Have a controller look at something though no object changed, such as a silent node."""
        self._queue(controller, key)
        self.notice()

    def happen(self, name: str, arguments: Arguments) -> None:
        """Something that was planned happens."""
        controller = str(arguments["controller"])
        if name == AGAIN:
            self._again(controller, str(arguments["key"]), patient=bool(arguments["patient"]))
        elif name == WORK:
            self._work(controller)

    def _tell(self, change: ObjectChange) -> None:
        group = f".{change.key.group}" if change.key.group else ""
        watching = self._watching.get(f"{change.key.resource}{group}", ())
        for controller in (*watching, *self._everywhere):
            for key in controller.keys(change):
                self._queue(controller.name, key)

    def _queue(self, name: str, key: str) -> None:
        self.state.queues.setdefault(name, {}).setdefault(key, self.state.seen)

    def _plan(self, name: str) -> None:
        self.state.planned.add(name)
        moment = self._timeline.now + latency(name, self._dice)
        self._timeline.at(moment, WORK, {"cluster": self._cluster, "controller": name})

    def _later(self, name: str, key: str, moment: float, *, patient: bool = False) -> None:
        place = _place(name, key, patient=patient)
        known = self.state.later.get(place)
        if known is not None and self._timeline.now <= known <= moment:
            return
        self.state.later[place] = moment
        arguments = {"cluster": self._cluster, "controller": name, "key": key, "patient": patient}
        self._timeline.at(moment, AGAIN, arguments, patient=patient)

    def _again(self, name: str, key: str, *, patient: bool) -> None:
        place = _place(name, key, patient=patient)
        moment = self.state.later.get(place)
        if moment is None or moment > self._timeline.now:
            return
        del self.state.later[place]
        self._queue(name, key)
        self.notice()

    def _work(self, name: str) -> None:
        self.state.planned.discard(name)
        controller = self._controllers.get(name)
        if controller is None or not self._is_served():
            return
        keys, self.state.queues[name] = self.state.queues.get(name, {}), {}
        for key in keys:
            self._sync(controller, key)
        if not self.state.queues[name]:
            del self.state.queues[name]
        self.notice()

    def _sync(self, controller: Controller, key: str) -> None:
        place = f"{controller.name} {key}"
        try:
            controller.sync(key)
        except (Refused, Retry):
            tries = self.state.tries[place] = self.state.tries.get(place, 0) + 1
            moment = self._timeline.now + backoff(min(tries, MOST_TRIES))
            self._later(controller.name, key, moment, patient=tries > MOST_TRIES)
            return
        self.state.tries.pop(place, None)


def _place(name: str, key: str, *, patient: bool) -> str:
    return f"{name} {key} patient" if patient else f"{name} {key}"
