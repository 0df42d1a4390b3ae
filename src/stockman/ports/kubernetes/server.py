"""What the API server says of itself."""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record
from stockman.model.version import Version
from stockman.ports.kubernetes.kinds import Kind


@record
class ServerVersion:
    """Which Kubernetes answers."""

    tag: str
    """`v1.36.3`."""
    platform: str = ""
    """`linux/amd64`."""

    @property
    def parsed(self) -> Version:
        return Version.parse(self.tag)


@record
class Readiness:
    """Whether the server can work."""

    ready: bool
    failed: tuple[str, ...] = ()
    """Names of checks that failed, `etcd`."""


class Server(Protocol):
    """The server, and what it serves."""

    async def server_version(self) -> ServerVersion:
        """Which Kubernetes answers."""
        ...

    async def readiness(self) -> Readiness:
        """Whether it says that it is ready. That it is not, is an answer too."""
        ...

    async def served_kind(self, api_version: str, name: str) -> Kind | None:
        """A kind by its name, as the server serves it. None: it does not."""
        ...

    async def serves(self, kind: Kind) -> bool:
        """Whether objects of a kind can be asked for."""
        ...
