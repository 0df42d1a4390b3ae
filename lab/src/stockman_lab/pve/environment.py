"""What a Proxmox cluster needs from the world around it, and how it asks for downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from stockman_lab.core.state import state

if TYPE_CHECKING:
    from stockman_lab.core.dice import Dice
    from stockman_lab.core.faults import Fault, Faults
    from stockman_lab.core.timeline import Timeline
    from stockman_lab.guest.network import Network
    from stockman_lab.guest.systems import Systems
    from stockman_lab.images.blobs import Blobs
    from stockman_lab.images.fetching import Fetched, FetchFailed, QueryFailed
    from stockman_lab.pve.cluster_state import ClusterState


class Outside(Protocol):
    """Fetches bytes for the world; whoever asks is called back, sooner or later."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        """Fetch what a URL leads to; `path` is what the log calls the file."""
        ...

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        """Ask what a URL leads to."""
        ...


class NothingOutside:
    """A world on its own: no URL leads anywhere."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        from stockman_lab.images.fetching import FetchFailed

        del path, verify
        done(FetchFailed(f"download failed: unable to resolve host address of '{url}'"))

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        from stockman_lab.images.fetching import QueryFailed

        del verify
        done(QueryFailed(f"invalid server response: '500 Can't connect to {url}'"))


@state
class Environment:
    """Time, dice, faults, bytes, and the way to fetch more of those."""

    timeline: Timeline
    dice: Dice
    faults: Faults
    blobs: Blobs
    outside: Outside
    systems: Systems
    """What boots from which image."""
    network: Network
    """The networks behind bridges: who gets which address."""
    remember: Callable[[], None]
    """Keeps what is true now for faults that lie from now on."""
    recall: Callable[[Fault, str], tuple[ClusterState, Environment]]
    """The cluster of a name, and what was around it, as a fault that lies remembers them."""

    @property
    def now(self) -> float:
        return self.timeline.now
