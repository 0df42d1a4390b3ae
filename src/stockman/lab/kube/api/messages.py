"""Requests to the API server and its answers, without any wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class User:
    """Who asks."""

    name: str = "system:anonymous"
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody wants."""

    method: str
    path: str
    """Decoded, without the query."""
    query: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""
    user: User = field(default_factory=User)

    def asked(self, name: str) -> str:
        """A parameter; empty where it is not given."""
        found = self.query.get(name)
        return found[0] if found else ""

    def is_asked(self, name: str) -> bool:
        """Whether a parameter says yes."""
        return self.asked(name) in {"1", "true", "True", "TRUE", "t", "T"}

    @property
    def manager(self) -> str:
        """Who sets fields, unless it is told: the program."""
        told = self.asked("fieldManager")
        agent = self.headers.get("user-agent", "").partition("/")[0]
        return told or "".join(one for one in agent[:128] if one.isprintable())


@dataclass(slots=True)
class Response:
    """An answer; of a watch the body comes piece by piece."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    stream: AsyncIterator[bytes] | None = None
    warnings: list[str] = field(default_factory=list)
    """Values of `Warning` headers, one each."""
