"""Which app waits for which, read from the rendered objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockman.rendering.checks.applied import FLUX, Application, Applied
from stockman.rendering.checks.objects import parts, text

Name = tuple[str, str]
"""Namespace and name."""


class Dangling(NamedTuple):
    """An app that waits for one that is not there."""

    path: str
    app: str
    wanted: str


class Circle(NamedTuple):
    """Apps that wait for each other."""

    path: str
    names: tuple[str, ...]
    """The first one stands at the end again."""


def _apps(application: Application) -> dict[Name, Applied]:
    return {
        (applied.namespace, applied.one.name): applied
        for applied in application.objects
        if applied.one.is_a(FLUX, "Kustomization")
    }


def _waits_for(applied: Applied) -> Iterator[Name]:
    for one in parts(applied.one.spec, "dependsOn"):
        yield text(one, "namespace") or applied.namespace, text(one, "name")


def dangling(application: Application) -> Iterator[Dangling]:
    """Names in `dependsOn` that no app has."""
    apps = _apps(application)
    for applied in apps.values():
        for wanted in _waits_for(applied):
            if applied.one.ours and wanted not in apps:
                yield Dangling(applied.one.path, applied.one.name, "/".join(wanted))


def circles(application: Application) -> Iterator[Circle]:
    """Each circle once, from the first of its apps in the tree."""
    apps = _apps(application)
    done: set[Name] = set()
    for start in apps:
        path: list[Name] = []
        stack = [(start, iter(_waits_for(apps[start])))] if start not in done else []
        path.extend(name for name, _ in stack)
        while stack:
            name, waits = stack[-1]
            following = next(waits, None)
            if following is None:
                done.add(name)
                stack.pop()
                path.pop()
            elif following in path:
                names = (*path[path.index(following) :], following)
                yield Circle(apps[following].one.path, tuple(one for _, one in names))
            elif following in apps and following not in done:
                path.append(following)
                stack.append((following, iter(_waits_for(apps[following]))))
