"""Resources: the names in the paths of requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stockman_lab.kube.schema.type import Json


@dataclass(frozen=True, slots=True)
class Subresource:
    """What is asked for below an object: `status`, `scale`, `eviction` ..."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """The objects of a kind, as discovery tells of them."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    storage_hash: str = ""
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    list_kind: str = ""
    declared: Mapping[str, Json] = field(default_factory=dict)
    """The entry of this version in a CustomResourceDefinition; empty: a built-in kind."""

    @property
    def api_version(self) -> str:
        """`v1` or `apps/v1`."""
        return api_version(self.group, self.version)

    @property
    def qualified(self) -> str:
        """`pods` or `deployments.apps`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def is_custom(self) -> bool:
        """Whether a CustomResourceDefinition made it."""
        return bool(self.declared)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of the API, with its versions, the preferred one first."""

    name: str
    versions: tuple[str, ...]


def api_version(group: str, version: str) -> str:
    """Group and version as objects name them."""
    return f"{group}/{version}" if group else version
