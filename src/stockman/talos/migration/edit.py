"""One edit of a migration, and what a list of them makes of a configuration."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import field
from enum import Enum

from stockman.model.origin import Origin
from stockman.model.record import record

Plain = dict[str, object]
"""A document or a part of one: mappings, lists and values."""
Key = tuple[str, str]
"""Kind and name of a document; the name is empty where the kind has none."""
Configuration = dict[Key, Plain]


class Nature(Enum):
    """Whether an edit changes what the machine does."""

    MOVED = "moved"
    """Says the same in the words of the newer contract."""
    REMOVED = "removed"
    """Takes away what has no effect there."""
    DEFAULT = "default"
    """Takes over a default of the newer contract: the machine changes."""


@record
class Edit:
    """One change of one place. Applied in their order, edits make the new configuration."""

    kind: str
    name: str
    """Empty: the kind has no names."""
    path: str
    """Keys from the top of the document, `machine.network.hostname`. Empty: the whole document."""
    before: object
    """None: nothing stood there."""
    after: object
    """None: nothing stands there any more."""
    reason: str
    since: str
    """The contract that asks for it, `1.12`."""
    nature: Nature = Nature.MOVED
    origin: Origin | None = field(default=None, compare=False, metadata={"shown": False})
    """Where `before` was written. None: nowhere, or it was made by an earlier edit."""

    @property
    def document(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def applied(configuration: Configuration, edits: Iterable[Edit]) -> Configuration:
    """The configuration after the edits; what is given stays as it is."""
    result = deepcopy(configuration)
    for edit in edits:
        key = (edit.kind, edit.name)
        after = deepcopy(edit.after)
        if edit.path:
            place(result.setdefault(key, {}), edit.path, after)
        elif isinstance(after, dict):
            result[key] = after
        else:
            result.pop(key, None)
    return result


def found(document: Plain, path: str) -> object:
    """What stands at a path; None: nothing."""
    value: object = document
    for step in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def place(document: Plain, path: str, value: object) -> None:
    """Put a value at a path; None takes it away, and sections that are empty then."""
    *above, last = path.split(".")
    way = [document]
    for step in above:
        below = way[-1].setdefault(step, {})
        if not isinstance(below, dict):
            raise TypeError(f"{path} leads through a value")
        way.append(below)
    if value is not None:
        way[-1][last] = value
        return
    way[-1].pop(last, None)
    for holder, step in reversed(list(zip(way[1:], above[1:], strict=False))):
        if step in holder and holder[step] == {}:
            del holder[step]
