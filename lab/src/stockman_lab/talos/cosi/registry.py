"""Which function tells the resources of which kind."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from stockman_lab.talos.cosi.content import Content, Contents, Spec

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

Told: TypeAlias = Callable[["Machine"], Contents]
Written: TypeAlias = Callable[[str, object], tuple[bytes, str]]
"""Minor and contents to a message and to YAML."""

_FOLDER = "stockman_lab.talos.cosi.kinds"
_KINDS: dict[str, Kind] = {}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of resources that machines have."""

    type: str
    owner: str
    """The controller that writes them."""
    told: Told
    written: Written | None = None
    """None: by the table of structures."""


def kind(name: str, owner: str, *, written: Written | None = None) -> Callable[[Told], Told]:
    """Let a function tell the resources of a kind, `Members.cluster.talos.dev`."""

    def registered(function: Told) -> Told:
        if name in _KINDS:
            raise ValueError(f"{name} is told twice")
        _KINDS[name] = Kind(name, owner, function, written)
        return function

    return registered


def kind_of(name: str) -> Kind | None:
    """The kind of a type. None: machines have none of it here."""
    return claimed().get(name)


@cache
def claimed() -> dict[str, Kind]:
    """All kinds that have contents here; every other one that a minor defines lists empty."""
    folder = import_module(_FOLDER)
    for iter_module in pkgutil.iter_modules(folder.__path__):
        import_module(f"{_FOLDER}.{iter_module.name}")
    return dict(sorted(_KINDS.items()))


def content_of(told: Spec | Content) -> Content:
    """Contents with their labels."""
    return told if isinstance(told, Content) else Content(told)
