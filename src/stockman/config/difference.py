"""What differs in meaning between two configurations, however each is written."""

from __future__ import annotations

from typing import Literal

from stockman.config.shown import Leaf, flattened, shown
from stockman.model.desired import Desired
from stockman.model.record import record


@record
class Difference:
    """One value that is not the same on both sides."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: object
    """None for added values, and where the value itself is null."""
    after: object
    """None for removed values, and where the value itself is null."""


def differences(before: Desired, after: Desired) -> tuple[Difference, ...]:
    """All values that differ, in the order of the first configuration; secrets compare by text."""
    one, other = _leaves(before), _leaves(after)
    found: list[Difference] = []
    for path, leaf in one.items():
        if path not in other:
            found.append(Difference(path=path, kind="removed", before=leaf.value, after=None))
        elif other[path].value != leaf.value:
            changed = other[path].value
            found.append(Difference(path=path, kind="changed", before=leaf.value, after=changed))
    found += [
        Difference(path=path, kind="added", before=None, after=leaf.value)
        for path, leaf in other.items()
        if path not in one
    ]
    return tuple(found)


def _leaves(desired: Desired) -> dict[str, Leaf]:
    return dict(flattened(shown(desired)))
