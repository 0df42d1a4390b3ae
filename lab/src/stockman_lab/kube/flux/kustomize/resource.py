"""A resource in the making, and the list of all of a build."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.identity import Identity
from stockman_lab.kube.objects import Object, metadata_of


@dataclass(eq=False)
class Resource:
    """An object, and what it was called before."""

    content: Object
    before: list[Identity] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)
    behavior: str = ""
    """Of what a generator made: `create`, `replace`, `merge`. Empty: not said."""
    needs_hash: bool = False

    @property
    def now(self) -> Identity:
        return Identity.of(self.content)

    @property
    def at_first(self) -> Identity:
        return self.before[0] if self.before else self.now

    @property
    def ever(self) -> list[Identity]:
        return [*self.before, self.now]

    def remember(self) -> None:
        """Keep what it is called, before that changes."""
        if self.now not in self.before:
            self.before.append(self.now)

    def rename(self, name: str) -> None:
        self.content.setdefault("metadata", {})["name"] = name

    @property
    def annotations(self) -> Object:
        return metadata_of(self.content).get("annotations") or {}

    @property
    def labels(self) -> Object:
        return metadata_of(self.content).get("labels") or {}

    def annotate(self, name: str, value: str) -> None:
        metadata = self.content.setdefault("metadata", {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), name: value}


Resources = list[Resource]


def append(resources: Resources, one: Resource) -> None:
    """Add a resource; raises `BuildFailure` when there is such a one."""
    name = one.now
    if any(name.is_same(resource.now) for resource in resources):
        raise BuildFailure(f"may not add resource with an already registered id: {name}")
    resources.append(one)


def append_all(resources: Resources, more: Iterable[Resource]) -> None:
    """Add resources; raises `BuildFailure` when there is one already."""
    known = {_key(resource.now) for resource in resources}
    for one in more:
        key = _key(one.now)
        if key in known:
            raise BuildFailure(f"may not add resource with an already registered id: {one.now}")
        known.add(key)
        resources.append(one)


def _key(name: Identity) -> tuple[str, ...]:
    return (name.place, name.group, name.version, name.kind, name.name)


def ever_called(resources: Resources, matches: Callable[[Identity], bool]) -> list[Resource]:
    """Resources of which any name they ever had matches."""
    return [
        resource for resource in resources if resource.content and any(map(matches, resource.ever))
    ]
