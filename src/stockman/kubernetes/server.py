"""What the API server says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from stockman.kubernetes.errors import Permission
from stockman.kubernetes.objects import ResourceKind
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version


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

    async def served_kind(self, api_version: str, name: str) -> ResourceKind | None:
        """A kind by its name, as the server serves it. None: it does not."""
        ...

    async def serves(self, kind: ResourceKind) -> bool:
        """Whether objects of a kind can be asked for."""
        ...


@record
class AccessReview:
    """Whether something is allowed."""

    allowed: bool
    why: str = ""


@record
class TokenRequest:
    """For whom a token is."""

    namespace: str
    account: str
    """Name of the service account."""
    seconds: int = 3600
    """The server gives no less than 600."""
    audiences: tuple[str, ...] = ()
    """Empty: the API server itself."""


@record
class ServiceAccountToken:
    """A token of a service account."""

    value: Secret
    expires: datetime


class Access(Protocol):
    """Rights."""

    async def may(self, right: Permission) -> AccessReview:
        """Whether we may do something."""
        ...

    async def token(self, wish: TokenRequest) -> ServiceAccountToken:
        """A new token of a service account, which ends by itself."""
        ...
