"""Shapes of values: kind, bounds, format, parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KINDS = {
    "s": "string",
    "i": "integer",
    "b": "boolean",
    "n": "number",
    "a": "array",
    "o": "object",
    "z": "null",
    "y": "any",
    "": "",
}
"""Letters of the tables, and the names of kinds as error texts use them."""

NUMBERED = "[n]"
"""Ends the name of a part that stands for numbered keys."""

Scalar = str | int | float


@dataclass(frozen=True, slots=True)
class Shape:
    """What one value may be."""

    kind: str
    form: str = ""
    """Name of a format, "" for none."""
    keys: Mapping[str, Part] | None = None
    """Keys of a property string, when its format is written out."""
    options: tuple[str, ...] = ()
    """The enumeration, in its order; empty for none."""
    pattern: str = ""
    least: Scalar | None = None
    most: Scalar | None = None
    shortest: int | None = None
    longest: int | None = None
    needs: str = ""
    """The property that has to be given together with this one."""
    alias: str = ""
    """Another key of the property string that this key stands for."""
    kept_in: str = ""
    """The key that remembers which alias was used (`model` of a network card)."""
    bare: bool = False
    """Whether the value may stand in a property string without its key."""
    items: Shape | None = None
    parts: Mapping[str, Part] | None = None
    closed: bool = False
    """Whether no other parts than these are allowed."""
    chosen_by: str = ""
    """The property whose value picks one of `variants`."""
    variants: tuple[tuple[tuple[str, ...], Shape], ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One named property of an object, of a call, or of a property string."""

    shape: Shape
    optional: bool = False
    count: int = 0
    """How many numbered keys `net[n]` stands for (32, from net0); 0: one key as it is named."""


@dataclass(slots=True)
class Shapes:
    """Shapes and groups of one table, read when they are asked for."""

    rows: list[dict[str, object]]
    groups: list[dict[str, int]]
    _shapes: dict[int, Shape] = field(default_factory=dict)
    _parts: dict[int, Mapping[str, Part]] = field(default_factory=dict)

    def shape(self, number: int) -> Shape:
        """The shape with this number."""
        shape = self._shapes.get(number)
        if shape is None:
            shape = self._shapes[number] = self._read(self.rows[number])
        return shape

    def parts(self, number: int) -> Mapping[str, Part]:
        """The named properties of the group with this number, in order."""
        found = self._parts.get(number)
        if found is None:
            found = self._parts[number] = dict(
                self._part(name, shape) for name, shape in self.groups[number].items()
            )
        return found

    def _part(self, name: str, shape: int) -> tuple[str, Part]:
        optional = name.endswith("?")
        name, star, count = name.removesuffix("?").partition("*")
        return name + NUMBERED if star else name, Part(self.shape(shape), optional, int(count or 0))

    def _read(self, row: dict[str, object]) -> Shape:
        return Shape(
            kind=KINDS[_text(row, "is")],
            form=_text(row, "form"),
            keys=self._group(row, "keys"),
            options=_texts(row.get("in")),
            pattern=_text(row, "like"),
            least=_scalar(row, "least"),
            most=_scalar(row, "most"),
            shortest=_whole(row, "shortest"),
            longest=_whole(row, "longest"),
            needs=_text(row, "needs"),
            alias=_text(row, "alias"),
            kept_in=_text(row, "kept"),
            bare="bare" in row,
            items=self._shape_at(row, "of"),
            parts=self._group(row, "has"),
            closed="shut" in row,
            chosen_by=_text(row, "by"),
            variants=self._variants(row.get("one")),
        )

    def _group(self, row: dict[str, object], key: str) -> Mapping[str, Part] | None:
        number = _whole(row, key)
        return None if number is None else self.parts(number)

    def _shape_at(self, row: dict[str, object], key: str) -> Shape | None:
        number = _whole(row, key)
        return None if number is None else self.shape(number)

    def _variants(self, rows: object) -> tuple[tuple[tuple[str, ...], Shape], ...]:
        pairs = rows if isinstance(rows, list) else []
        return tuple((_texts(names), self.shape(number)) for names, number in pairs)


def _text(row: dict[str, object], key: str) -> str:
    value = row.get(key, "")
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _whole(row: dict[str, object], key: str) -> int | None:
    value = row.get(key)
    return value if isinstance(value, int) else None


def _scalar(row: dict[str, object], key: str) -> Scalar | None:
    value = row.get(key)
    return value if isinstance(value, str | int | float) else None
