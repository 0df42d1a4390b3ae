"""Where a value comes from: a position in a file, a class, a derivation or a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from stockman.model.record import record


class Position(NamedTuple):
    """A position in a text file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Origin(NamedTuple):
    """The position and name of a value as written by the user, and how it got to where it is
    used."""

    at: Position
    name: str
    """Key path as the user wrote it, `cluster_pod_cidr` or `vm.cores`. `default` for defaults;
    empty for derived values."""
    via: str = ""
    """Empty: written directly. `class worker`: inherited from that class. For a derived value: the
    reason."""

    @property
    def is_derived(self) -> bool:
        """Whether the value was not written but follows from other values."""
        return not self.at.file

    def __str__(self) -> str:
        if self.is_derived:
            return f"{self.name or 'derived'}: {self.via}"
        return f"{self.at} ({self.via})" if self.via else str(self.at)


def derivation(reason: str) -> Origin:
    """Return the origin of a value that follows from other values."""
    return Origin(Position("", 0, 0), "", reason)


Origins = Mapping[str, Origin]


@record
class Traced:
    """A record that knows where its fields were written.

    Keys of `origins` are field names, `name[2]` for list items, and `""` for the record itself. A
    field without an origin has its default.
    """

    origins: Origins = field(
        default_factory=dict, repr=False, compare=False, metadata={"shown": False}
    )

    def where(self, name: str = "") -> Origin | None:
        """Return the origin of a field, or that of the record if the field was not written."""
        return self.origins.get(name) or self.origins.get("")
