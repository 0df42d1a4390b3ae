"""Which app waits for which, read from the rendered objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockman.rendering.checks.applied_objects import FLUX, AppliedObject, AppliedTree
from stockman.rendering.checks.objects import mappings_at, text_at

AppName = tuple[str, str]
"""Namespace and name."""


class DanglingDependency(NamedTuple):
    """An app that waits for one that is not there."""

    path: str
    app: str
    wanted: str


class DependencyCycle(NamedTuple):
    """Apps that wait for each other."""

    path: str
    names: tuple[str, ...]
    """The first one stands at the end again."""


def _apps(application: AppliedTree) -> dict[AppName, AppliedObject]:
    return {
        (applied.namespace, applied.one.name): applied
        for applied in application.objects
        if applied.one.is_a(FLUX, "Kustomization")
    }


def _dependencies(applied: AppliedObject) -> Iterator[AppName]:
    for one in mappings_at(applied.one.spec, "dependsOn"):
        yield text_at(one, "namespace") or applied.namespace, text_at(one, "name")


def find_dangling(application: AppliedTree) -> Iterator[DanglingDependency]:
    """Names in `dependsOn` that no app has."""
    apps = _apps(application)
    for applied in apps.values():
        for wanted in _dependencies(applied):
            if applied.one.ours and wanted not in apps:
                yield DanglingDependency(applied.one.path, applied.one.name, "/".join(wanted))


def find_cycles(application: AppliedTree) -> Iterator[DependencyCycle]:
    """Each circle once, from the first of its apps in the tree."""
    apps = _apps(application)
    done: set[AppName] = set()
    for start in apps:
        path: list[AppName] = []
        stack = [(start, iter(_dependencies(apps[start])))] if start not in done else []
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
                yield DependencyCycle(apps[following].one.path, tuple(one for _, one in names))
            elif following in apps and following not in done:
                path.append(following)
                stack.append((following, iter(_dependencies(apps[following]))))
