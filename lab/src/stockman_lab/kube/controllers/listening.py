"""Being told at once when a store was written to."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.store.bell import Bell
from stockman_lab.kube.store.store import Store


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
