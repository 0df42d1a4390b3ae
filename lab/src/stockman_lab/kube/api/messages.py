"""Requests to the API server and its answers, without any wire."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from stockman_lab.kube.objects import Object


def read_query(text: str) -> dict[str, list[str]]:
    """The parameters of a query: pairs that cannot be read, or have a semicolon, are left out."""
    query: dict[str, list[str]] = {}
    for pair in text.split("&"):
        name, _, value = pair.partition("=")
        if not pair or ";" in pair or _BROKEN.search(pair):
            continue
        query.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return query


_BROKEN = re.compile("%(?![0-9a-fA-F]{2})")


def is_yes(text: str) -> bool:
    """Whether a parameter that was given says yes: all but two words do."""
    return text.lower() not in {"false", "0"}


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
    content: Object | None = None
    """What the body says, of somebody in this process: nothing has to be read. None: read it."""

    def asked(self, name: str) -> str:
        """A parameter; empty where it is not given."""
        content = self.query.get(name)
        return content[0] if content else ""

    def is_asked(self, name: str) -> bool:
        """Whether a parameter says yes."""
        return name in self.query and is_yes(self.asked(name))

    @property
    def manager(self) -> str:
        """Who sets fields, unless it is told: the program."""
        told = self.asked("fieldManager")
        agent = self.headers.get("user-agent", "").partition("/")[0]
        return told or "".join(item for item in agent[:128] if item.isprintable())


class Response:
    """An answer; of a watch the body comes piece by piece."""

    __slots__ = ("_body", "content", "headers", "status", "stream", "warnings")

    def __init__(
        self,
        status: int = 200,
        headers: dict[str, str] | None = None,
        body: bytes | Callable[[], bytes] = b"",
        stream: AsyncIterator[bytes] | None = None,
        content: Object | None = None,
    ) -> None:
        self.status = status
        self.headers = {} if headers is None else headers
        self._body = body
        self.stream = stream
        self.content = content
        """What the body says, where it was made of one object: nobody changes it."""
        self.warnings: list[str] = []
        """Values of `Warning` headers, one each."""

    @property
    def body(self) -> bytes:
        """Written when somebody reads it: not everybody does."""
        if not isinstance(self._body, bytes):
            self._body = self._body()
        return self._body

    @body.setter
    def body(self, body: bytes) -> None:
        self._body = body
