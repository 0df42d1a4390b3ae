"""What a `talconfig.yaml` says for one node: its own keys, and those of its group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from stockman.config.source.tree import Entry, Mapping, Node, Scalar
from stockman.talos.imports.foreign import Foreign, Piece, Scope, items, scalars
from stockman.talos.imports.variables import HIDDEN

NEWEST = "v1.13.8"
"""The Talos version that talhelper 3.1.16 takes where none is given."""


class Given(NamedTuple):
    """A key as it holds for a node, and where it was written."""

    known: str
    entry: Entry
    scope: Scope

    @property
    def value(self) -> Node:
        return self.entry.value

    @property
    def target(self) -> str:
        """Where a patch goes that is made of it."""
        return target(self.scope)


def target(scope: Scope) -> str:
    """The key that patches of a scope stand in."""
    return "the node's talos.patches" if scope == "node" else f"talos.patches.{scope}"


@dataclass(slots=True)
class Asked:
    """One node with everything that is said for it."""

    foreign: Foreign
    tree: Mapping
    """The whole file."""
    name: Scalar
    is_controller: bool
    given: dict[str, Given]
    keys: Mapping
    """The node in our words, as far as it was read."""
    extra: list[Piece] = field(default_factory=list)

    @property
    def group(self) -> Mapping:
        """What holds for all nodes of the role."""
        found = self.tree.get("controlPlane" if self.is_controller else "worker")
        return found if isinstance(found, Mapping) else Mapping(self.tree.at)

    @property
    def group_name(self) -> str:
        return "controlPlane" if self.is_controller else "worker"

    @property
    def role(self) -> Scope:
        return "controller" if self.is_controller else "worker"

    @property
    def contract(self) -> tuple[int, int]:
        major, _, minor = self.foreign.contract.partition(".")
        return int(major), int(minor)

    def has(self, key: str) -> bool:
        return key in self.given

    def mapping(self, key: str) -> Mapping | None:
        """A key that is a mapping. None: it is not given, or something else."""
        one = self.given.get(key)
        return one.value if one is not None and isinstance(one.value, Mapping) else None

    def texts(self, key: str) -> list[str]:
        """A key that is a list of texts."""
        one = self.given.get(key)
        found = items(one.value) if one is not None else []
        return [item.text for item in found if isinstance(item, Scalar)]

    def top(self, key: str) -> str:
        """A text of the whole file; empty: it is not given."""
        found = self.tree.get(key)
        return found.text if isinstance(found, Scalar) else ""

    def top_texts(self, key: str) -> list[str]:
        return [one.text for one in items(self.tree.get(key)) if isinstance(one, Scalar)]

    def version(self, key: str, otherwise: str = "") -> str:
        """A version as image tags write it."""
        return f"v{(self.top(key) or otherwise).removeprefix('v')}"

    def is_hidden(self, key: str) -> bool:
        """Whether a key holds an encrypted value; it is left out then."""
        one = self.given[key]
        if not any(HIDDEN in scalar.text for scalar in scalars(one.value)):
            return False
        how = "it holds an encrypted value, which would be in the clear here"
        self.foreign.say(one.known, one.entry.key.at, "left out", how)
        return True

    def add(self, one: Given, whole: Mapping) -> None:
        """Make a patch of a key."""
        number = sum(piece.scope == one.scope for piece in self.extra)
        self.extra.append(Piece(one.known, one.scope, (-1, number), whole))

    def has_piece(self, key: str) -> bool:
        """Whether a key became a patch."""
        one = self.given.get(key)
        return one is not None and any(piece.label == one.known for piece in self.extra)


def given_for(index: int, node: Mapping, tree: Mapping, group: str) -> dict[str, Given]:
    """The keys that hold for a node: its own win, unless they are zero."""
    scope: Scope = "controller" if group == "controlPlane" else "worker"
    shared = tree.get(group)
    found: dict[str, Given] = {}
    if isinstance(shared, Mapping):
        for key, entry in shared.entries.items():
            found[key] = Given(f"{group}.{key}", entry, scope)
    for key, entry in node.entries.items():
        if not is_zero(entry.value):
            found[key] = Given(f"nodes[{index}].{key}", entry, "node")
    return found


def is_zero(value: Node) -> bool:
    """Whether Go takes a value for one that was not given."""
    return isinstance(value, Scalar) and (
        value.is_null or (value.plain and value.text.lower() in ("false", "0")) or not value.text
    )
