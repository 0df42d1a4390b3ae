"""Which function tells the resources of which kind."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

Spec: TypeAlias = Mapping[str, object]
"""By keys of YAML. What is not told is as Go has it when nobody sets it."""


@dataclass(frozen=True, slots=True)
class Content:
    """Contents of one resource, where its labels or its form are not the usual ones."""

    spec: object
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


Contents: TypeAlias = Mapping[str, Spec | Content]
"""Of all resources of a kind, by id."""


Told: TypeAlias = Callable[["Machine"], Contents]
Written: TypeAlias = Callable[[str, object], tuple[bytes, str]]
"""Minor and contents to a message and to YAML."""

_FOLDER = "stockman_lab.talos.cosi.kinds"
_KINDS: dict[str, ResourceKind] = {}


@dataclass(frozen=True, slots=True)
class ResourceKind:
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
        _KINDS[name] = ResourceKind(name, owner, function, written)
        return function

    return registered


def kind_of(name: str) -> ResourceKind | None:
    """The kind of a type. None: machines have none of it here."""
    return claimed().get(name)


@cache
def claimed() -> dict[str, ResourceKind]:
    """All kinds that have contents here; every other one that a minor defines lists empty."""
    folder = import_module(_FOLDER)
    for iter_module in pkgutil.iter_modules(folder.__path__):
        import_module(f"{_FOLDER}.{iter_module.name}")
    return dict(sorted(_KINDS.items()))


def content_of(told: Spec | Content) -> Content:
    """Contents with their labels."""
    return told if isinstance(told, Content) else Content(told)
