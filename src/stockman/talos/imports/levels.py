"""Where patches go: to all nodes, to a role or to a node, so that the order keeps its meaning.

A patch stays on the level that it was written on as long as it is the same for every node there,
and may change places with those that it has to pass. Otherwise it is given to each node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.config.source.tree import Mapping as Tree
from stockman.config.source.tree import Node, Scalar, Sequence, untyped
from stockman.talos.imports.foreign import Order, Piece, Scope

Source = tuple[Scope, tuple[int, int]]
"""Which document of which patch: the same for all nodes that it holds for."""
_RANKS: dict[Order, dict[str, int]] = {
    "specific": {"all": 0, "role": 1, "node": 2},
    "talhelper": {"role": 0, "node": 1, "all": 2},
}
_Touched = tuple[tuple[str, str], tuple[str, ...]]


def source(piece: Piece) -> Source:
    """What tells a piece from others, whichever node it is for."""
    return piece.scope, piece.place


def levels(
    pieces: Mapping[str, list[Piece]], members: Mapping[Scope, set[str]], order: Order
) -> dict[Source, Scope]:
    """The level of every piece; `pieces` are those of each node in the order they apply."""
    found = {source(one): one.scope for all_of in pieces.values() for one in all_of}
    for key in list(found):
        if found[key] != "node" and not _is_shared(key, pieces, members):
            found[key] = "node"
    while clash := _clash(pieces, found, order):
        for key in clash:
            found[key] = "node"
    return found


def _is_shared(
    key: Source, pieces: Mapping[str, list[Piece]], members: Mapping[Scope, set[str]]
) -> bool:
    """Whether a piece is the same for every node of its scope."""
    texts: dict[str, object] = {}
    for name, all_of in pieces.items():
        for one in all_of:
            if source(one) == key:
                texts[name] = untyped(one.document)
    values = list(texts.values())
    return set(texts) >= members[key[0]] and all(value == values[0] for value in values)


def _clash(
    pieces: Mapping[str, list[Piece]], found: Mapping[Source, Scope], order: Order
) -> set[Source]:
    """Two pieces that would change places and must not; empty: there are none."""
    ranks = _RANKS[order]

    def rank(piece: Piece) -> int:
        level = found[source(piece)]
        return ranks["role" if level in ("controller", "worker") else level]

    for all_of in pieces.values():
        for index, first in enumerate(all_of):
            for second in all_of[index + 1 :]:
                if rank(first) <= rank(second) or not overlapping(first, second):
                    continue
                wrong = {source(one) for one in (first, second) if found[source(one)] != "node"}
                if wrong:
                    return wrong
    return set()


def overlapping(first: Piece, second: Piece) -> bool:
    """Whether two pieces say something of the same place."""
    return bool(list(shared_places(first, second)))


def shared_places(first: Piece, second: Piece) -> Iterator[str]:
    """Places that two pieces both say something of."""
    for one_document, one in touched(first.document):
        for other_document, other in touched(second.document):
            short = min(len(one), len(other))
            if one_document == other_document and one[:short] == other[:short]:
                place = ".".join(one if len(one) > len(other) else other)
                yield f"{' '.join(filter(None, one_document))} {place}".strip()


def touched(document: Tree) -> Iterator[_Touched]:
    """Every value of a document: which document, and its path."""
    kind, name = document.get("kind"), document.get("name")
    identity = (
        kind.text if isinstance(kind, Scalar) else "v1alpha1",
        name.text if isinstance(name, Scalar) and isinstance(kind, Scalar) else "",
    )
    for path in leaves(document):
        if path not in (("apiVersion",), ("kind",), ("name",)):
            yield identity, path


def leaves(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of values; a list is one, and so is what a `$patch` stands in."""
    if isinstance(node, Scalar | Sequence) or "$patch" in node.entries or not node.entries:
        yield path
        return
    for key, entry in node.entries.items():
        yield from leaves(entry.value, (*path, key))
