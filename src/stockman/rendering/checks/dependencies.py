"""Dependencies between apps, read from the rendered objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stockman.rendering.checks.applied_objects import FLUX, AppliedObject, AppliedTree
from stockman.rendering.checks.objects import mappings_at, text_at

AppName = tuple[str, str]
"""Namespace and name."""


class DanglingDependency(NamedTuple):
    """An app that depends on one that does not exist."""

    path: str
    app: str
    dependency: str


class DependencyCycle(NamedTuple):
    """Apps that depend on each other."""

    path: str
    names: tuple[str, ...]
    """The first one is repeated at the end."""


def _apps(application: AppliedTree) -> dict[AppName, AppliedObject]:
    return {
        (applied.namespace, applied.object.name): applied
        for applied in application.objects
        if applied.object.is_a(FLUX, "Kustomization")
    }


def _dependencies(applied: AppliedObject) -> Iterator[AppName]:
    for entry in mappings_at(applied.object.spec, "dependsOn"):
        yield text_at(entry, "namespace") or applied.namespace, text_at(entry, "name")


def find_dangling(application: AppliedTree) -> Iterator[DanglingDependency]:
    """Return names in `dependsOn` that are not apps."""
    apps = _apps(application)
    for applied in apps.values():
        for dependency in _dependencies(applied):
            if applied.object.ours and dependency not in apps:
                yield DanglingDependency(
                    applied.object.path, applied.object.name, "/".join(dependency)
                )


def find_cycles(application: AppliedTree) -> Iterator[DependencyCycle]:
    """Return each cycle once, starting at the first of its apps in the tree."""
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
                yield DependencyCycle(
                    apps[following].object.path, tuple(member for _, member in names)
                )
            elif following in apps and following not in done:
                path.append(following)
                stack.append((following, iter(_dependencies(apps[following]))))
