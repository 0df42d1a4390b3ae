"""Every kind of action, gate and hold that there is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from stockman.steps.base import Part


class UnknownKind(Exception):
    """A part of a kind that no class here has."""

    def __init__(self, kind: object) -> None:
        super().__init__(kind)
        self.kind = kind


def part_of(kind: str) -> type[Part] | None:
    """The class of a kind; None where there is none."""
    return Part.known.get(kind) or every_kind().get(kind)


@cache
def every_kind() -> Mapping[str, type[Part]]:
    """All classes by kind; imports every module beside this one."""
    package = __name__.rpartition(".")[0]
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        import_module(module.name)
    return Part.known
