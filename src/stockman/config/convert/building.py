"""A tree in the one shape, put together from values of a foreign file."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from stockman.config.convert.result import Lost
from stockman.config.inherit import inherited
from stockman.config.language.estate import Estate
from stockman.config.reading import Reading
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.config.typed import typed
from stockman.model.origin import Position
from stockman.model.problem import Problems

_UNFIT = "its value does not fit the key that it would have"


class Building:
    """What was found so far, and what has no place in it."""

    def __init__(self, file: str) -> None:
        self.whole = Mapping(Position(file, 1, 1))
        self.lost: list[Lost] = []
        self.blanks: frozenset[Position] = frozenset()
        """Where the file has something that is no value; such items are left out of lists."""

    def put(self, path: str, entry: Entry) -> None:
        """Place a value under a path of the one shape; the entry's name is the foreign one."""
        put_into(self.whole, path, entry)

    def append(self, section: str, item: Mapping, key: Scalar) -> None:
        """Add an item to a list of machines."""
        known = self.whole.entries.get(section)
        if known is None:
            known = Entry(key, Sequence(item.at))
            self.whole.entries[section] = known
        if isinstance(known.value, Sequence):
            known.value.items.append(item)

    def lose(self, key: str, at: Position, reason: str) -> None:
        """List something that has no place."""
        self.lost.append(Lost(key=key, at=at, reason=reason))

    def drop_what_does_not_fit(self) -> None:
        """Take values out that their keys cannot have, and list them."""
        problems = Problems()
        tree = Mapping(self.whole.at, dict(self.whole.entries))
        reading = Reading(problems)
        inherited(tree, reading)
        typed(Estate, tree, reading)
        places = {one.where for one in problems.errors if one.code != "config.missing-key"}
        for mapping, name, entry in list(_leaves(self.whole)):
            known = entry.name or name
            if entry.value.at in places:
                del mapping.entries[name]
                self.lose(known, entry.value.at, _UNFIT)
            elif isinstance(entry.value, Sequence):
                self._drop_items(entry.value, known, places)

    def _drop_items(
        self, sequence: Sequence, known: str, places: AbstractSet[Position | str]
    ) -> None:
        for index, item in enumerate(sequence.items):
            if item.at in places and item.at not in self.blanks:
                self.lose(f"{known}[{index}]", item.at, _UNFIT)
        unfit = places | self.blanks
        sequence.items = [item for item in sequence.items if item.at not in unfit]


def put_into(mapping: Mapping, path: str, entry: Entry) -> None:
    """Place a value under a path; what stands there already stays."""
    *outer, last = path.split(".")
    for step in outer:
        known = mapping.entries.get(step)
        if known is None:
            known = Entry(entry.key, Mapping(entry.value.at))
            mapping.entries[step] = known
        if not isinstance(known.value, Mapping):
            return
        mapping = known.value
    mapping.entries.setdefault(last, entry)


def text_at(text: str, node: Node) -> Scalar:
    """A text that was made of another one, at its place."""
    span = node.span if isinstance(node, Scalar) else (0, 0)
    return Scalar(text, node.at, plain=False, span=span)


def _leaves(node: Node) -> Iterator[tuple[Mapping, str, Entry]]:
    if isinstance(node, Mapping):
        for name, entry in node.entries.items():
            if isinstance(entry.value, Scalar) or _holds_values(entry.value):
                yield node, name, entry
            else:
                yield from _leaves(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _leaves(item)


def _holds_values(node: Node) -> bool:
    return isinstance(node, Sequence) and all(isinstance(item, Scalar) for item in node.items)
