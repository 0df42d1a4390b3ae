"""Rules of roles: what they allow, what they cover of each other, how refusals show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.objects import Object

ALL = "*"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a role."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def allows(self, asked: Attributes) -> bool:
        """Whether it lets somebody do something."""
        if ALL not in self.verbs and asked.verb not in self.verbs:
            return False
        if asked.path:
            return any(_fits(path, asked.path) for path in self.paths)
        return (
            (ALL in self.groups or asked.group in self.groups)
            and self._has_resource(asked.resource, asked.subresource)
            and (not self.names or asked.name in self.names)
        )

    def covers(self, other: Rule) -> bool:
        """Whether it allows all that a rule of single things allows."""
        if not _holds(self.verbs, other.verbs):
            return False
        if other.paths:
            return all(any(_fits(mine, path) for mine in self.paths) for path in other.paths)
        names = not self.names or (bool(other.names) and set(other.names) <= set(self.names))
        resources = ALL in self.resources or all(map(self._covers_resource, other.resources))
        return bool(self.resources) and _holds(self.groups, other.groups) and resources and names

    def _covers_resource(self, resource: str) -> bool:
        return self._has_resource(*_parts(resource))

    def _has_resource(self, resource: str, subresource: str) -> bool:
        if ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    def pieces(self) -> Iterator[Rule]:
        """Rules of single things that allow the same together."""
        for verb, group, resource in product(self.verbs, self.groups, self.resources):
            for name in self.names or ("",):
                yield Rule((verb,), (group,), (resource,), (name,) if name else ())
        for path, verb in product(self.paths, self.verbs):
            yield Rule((verb,), paths=(path,))

    @property
    def shown(self) -> str:
        """As refusals show it."""
        parts = (
            ("APIGroups", self.groups),
            ("Resources", self.resources),
            ("ResourceNames", self.names),
            ("NonResourceURLs", self.paths),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{name}:{_quoted(one)}" for name, one in parts if one) + "}"

    @property
    def content(self) -> Object:
        """As reviews tell it."""
        made: Object = {"verbs": list(self.verbs)}
        if self.paths:
            return made | {"nonResourceURLs": list(self.paths)}
        made |= {"apiGroups": list(self.groups), "resources": list(self.resources)}
        return made | ({"resourceNames": list(self.names)} if self.names else {})


def read_rules(role: Object) -> tuple[Rule, ...]:
    """The rules of a role."""
    return tuple(
        Rule(
            _texts(rule, "verbs"),
            _texts(rule, "apiGroups"),
            _texts(rule, "resources"),
            _texts(rule, "resourceNames"),
            _texts(rule, "nonResourceURLs"),
        )
        for rule in role.get("rules") or []
    )


def uncovered(mine: Sequence[Rule], rules: Iterable[Rule]) -> list[Rule]:
    """What of some rules is not allowed by others, put together again."""
    missing = [
        piece
        for rule in rules
        for piece in rule.pieces()
        if not any(one.covers(piece) for one in mine)
    ]
    return sorted(_together(missing), key=lambda one: one.shown)


def _together(pieces: Iterable[Rule]) -> Iterator[Rule]:
    verbs: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for piece in pieces:
        known = verbs.setdefault((piece.groups, piece.resources, piece.names, piece.paths), [])
        if piece.verbs[0] not in known:
            known.append(piece.verbs[0])
    for (groups, resources, names, paths), verb in verbs.items():
        yield Rule(tuple(verb), groups, resources, names, paths)


def _texts(content: Object, name: str) -> tuple[str, ...]:
    return tuple(str(one) for one in content.get(name) or ())


def _holds(mine: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return ALL in mine or set(wanted) <= set(mine)


def _fits(pattern: str, path: str) -> bool:
    if pattern in (ALL, path):
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))


def _parts(resource: str) -> tuple[str, str]:
    name, _, subresource = resource.partition("/")
    return name, subresource


def _quoted(texts: tuple[str, ...]) -> str:
    return "[" + " ".join(f'"{text}"' for text in texts) + "]"
