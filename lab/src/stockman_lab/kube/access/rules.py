"""Rules of roles: what they allow, what they cover of each other, how refusals show them."""

from __future__ import annotations

from dataclasses import dataclass

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

    def allows(self, attributes: Attributes) -> bool:
        """Whether it lets somebody do something."""
        if ALL not in self.verbs and attributes.verb not in self.verbs:
            return False
        if attributes.path:
            return any(_fits(path, attributes.path) for path in self.paths)
        return (
            (ALL in self.groups or attributes.group in self.groups)
            and self._has_resource(attributes.resource, attributes.subresource)
            and (not self.names or attributes.name in self.names)
        )

    def _has_resource(self, resource: str, subresource: str) -> bool:
        if ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    @property
    def content(self) -> Object:
        """As reviews tell it."""
        result: Object = {"verbs": list(self.verbs)}
        if self.paths:
            return result | {"nonResourceURLs": list(self.paths)}
        result |= {"apiGroups": list(self.groups), "resources": list(self.resources)}
        return result | ({"resourceNames": list(self.names)} if self.names else {})


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


def _texts(content: Object, name: str) -> tuple[str, ...]:
    return tuple(str(item) for item in content.get(name) or ())


def _fits(pattern: str, path: str) -> bool:
    if pattern in (ALL, path):
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))
