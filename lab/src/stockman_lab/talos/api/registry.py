"""Which function answers which method."""

from __future__ import annotations

import pkgutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from stockman_lab.talos.api.call import ApiFleet, Call, Patience

Fields: TypeAlias = Mapping[str, object]
Answer: TypeAlias = Callable[[Call], Fields | Awaitable[Fields]]
StreamedAnswer: TypeAlias = Callable[[Call], AsyncIterator[Fields]]
UploadedAnswer: TypeAlias = Callable[[Call, AsyncIterator[Any]], Awaitable[Fields]]
TalkedAnswer: TypeAlias = Callable[[Call, AsyncIterator[Any]], AsyncIterator[Fields]]

_Function = TypeVar("_Function", bound=Callable[..., object])
_FOLDER = "stockman_lab.talos.methods"
_MINORS = ("1.11", "1.12", "1.13", "1.14")


class MethodKind(Enum):
    """How messages go back and forth."""

    UNARY = "unary"
    STREAMED = "streamed"
    UPLOADED = "uploaded"
    TALKED = "talked"


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that answers a method, in some minors or in all."""

    kind: MethodKind
    function: Callable[..., Any]
    since: str = _MINORS[0]
    until: str = _MINORS[-1]

    def holds(self, minor: str) -> bool:
        place = _MINORS.index(minor)
        return _MINORS.index(self.since) <= place <= _MINORS.index(self.until)


class Methods:
    """Functions by the methods that they answer."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[Entry]] = {}

    def entry_of(self, service: str, name: str, minor: str) -> Entry | None:
        """Who answers a method in a minor."""
        entry = self._entries.get((service, name), ())
        return next((one for one in entry if one.holds(minor)), None)

    def names(self) -> set[tuple[str, str]]:
        """All services and names that are answered, in any minor."""
        return set(self._entries)

    def method(
        self, service: str, name: str, *, since: str = _MINORS[0], until: str = _MINORS[-1]
    ) -> Callable[[Answer], Answer]:
        """Let a function answer with one message: it returns the fields of that."""
        return self._register((service, name), MethodKind.UNARY, since, until)

    def streamed(
        self, service: str, name: str, *, since: str = _MINORS[0], until: str = _MINORS[-1]
    ) -> Callable[[StreamedAnswer], StreamedAnswer]:
        """Let a function answer with a stream of messages."""
        return self._register((service, name), MethodKind.STREAMED, since, until)

    def uploaded(
        self, service: str, name: str, *, since: str = _MINORS[0], until: str = _MINORS[-1]
    ) -> Callable[[UploadedAnswer], UploadedAnswer]:
        """Let a function take a stream of messages, and answer with one."""
        return self._register((service, name), MethodKind.UPLOADED, since, until)

    def talked(
        self, service: str, name: str, *, since: str = _MINORS[0], until: str = _MINORS[-1]
    ) -> Callable[[TalkedAnswer], TalkedAnswer]:
        """Let a function take a stream of messages, and answer with another."""
        return self._register((service, name), MethodKind.TALKED, since, until)

    def _register(
        self, key: tuple[str, str], kind: MethodKind, since: str, until: str
    ) -> Callable[[_Function], _Function]:
        def registered(function: _Function) -> _Function:
            entry = Entry(kind, function, since, until)
            entries = self._entries.setdefault(key, [])
            if any(one.holds(minor) and entry.holds(minor) for one in entries for minor in _MINORS):
                raise ValueError(f"{key[0]}/{key[1]} is answered twice")
            entries.append(entry)
            return function

        return registered


METHODS = Methods()
"""What machines answer; filled by the modules of the families."""

method = METHODS.method
streamed = METHODS.streamed
uploaded = METHODS.uploaded
talked = METHODS.talked


@cache
def all_methods() -> Methods:
    """What machines answer, after all modules were imported that answer something."""
    folder = import_module(_FOLDER)
    for iter_module in pkgutil.iter_modules(folder.__path__):
        import_module(f"{_FOLDER}.{iter_module.name}")
    return METHODS


@dataclass(frozen=True, slots=True)
class CallContext:
    """Other machines, how to wait, and who answers what."""

    land: ApiFleet
    patience: Patience
    methods: Methods
