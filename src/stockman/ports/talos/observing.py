"""Events and logs of a machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import field
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record


@record
class EventsWish:
    """Which events are wanted; those that follow always are."""

    last: int = 0
    """So many of those that were; below zero: all of them."""
    after: str = ""
    """All after the one with this id."""
    actor: str = ""
    """Only those of one actor. Empty: of all."""


@record
class Event:
    """Something that happened on a machine."""

    id: str
    actor: str
    kind: str
    """`SequenceEvent`, `MachineStatusEvent`. Empty: the greeting that each stream begins with."""
    content: dict[str, object] = field(default_factory=dict)


@record
class LogWish:
    """Which log is wanted."""

    service: str
    """`etcd`, `kubelet`."""
    last: int = -1
    """So many lines from its end; below zero: all of them."""
    follow: bool = False


class Observing(Protocol):
    """What happens on a machine, told as it happens."""

    def events(
        self, node: MachineAddress, wish: EventsWish | None = None
    ) -> AsyncGenerator[Event, None]:
        """Events; after the greeting nothing is missed. It ends when the machine goes down."""
        ...

    def service_log(self, node: MachineAddress, wish: LogWish) -> AsyncGenerator[str, None]:
        """Lines of the log of a service."""
        ...

    def kernel_log(
        self, node: MachineAddress, *, follow: bool = False
    ) -> AsyncGenerator[str, None]:
        """Lines of the log of the kernel."""
        ...
