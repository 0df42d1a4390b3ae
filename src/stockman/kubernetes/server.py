"""The API server: version, readiness, access reviews and service account tokens."""

from __future__ import annotations

from datetime import datetime

from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version


@record
class ServerVersion:
    """The version of the API server."""

    tag: str
    """`v1.36.3`."""
    platform: str = ""
    """`linux/amd64`."""

    @property
    def parsed(self) -> Version:
        return Version.parse(self.tag)


@record
class Readiness:
    """Whether the API server is ready."""

    ready: bool
    failed: tuple[str, ...] = ()
    """Names of failed checks, for example `etcd`."""


@record
class AccessReview:
    """The answer to whether the user has a permission."""

    allowed: bool
    why: str = ""


@record
class TokenRequest:
    """Parameters of a new service account token."""

    namespace: str
    account: str
    """Name of the service account."""
    seconds: int = 3600
    """The server requires at least 600."""
    audiences: tuple[str, ...] = ()
    """Empty: the API server itself."""


@record
class ServiceAccountToken:
    """A token of a service account."""

    value: Secret
    expires: datetime
