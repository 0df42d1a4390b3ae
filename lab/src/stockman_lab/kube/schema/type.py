"""Types of values, of built-in kinds and of custom ones alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""What JSON can say."""


class Kind(Enum):
    """What a value is made of."""

    OBJECT = "object"
    """Named fields."""
    MAP = "map"
    """Any names, all of one type."""
    LIST = "list"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    BYTES = "bytes"
    """Bytes in base64."""
    TIME = "time"
    """Seconds: `2026-01-31T12:00:00Z`."""
    MICRO_TIME = "microtime"
    """Microseconds: `2026-01-31T12:00:00.000000Z`."""
    QUANTITY = "quantity"
    INT_OR_STRING = "int-or-string"
    ANY = "any"
    """Whatever is given is kept."""


class ListKind(Enum):
    """How the entries of a list belong together when several write to it."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


class _Missing(Enum):
    MISSING = "missing"


MISSING = _Missing.MISSING
"""There is no default; null is one."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object."""

    name: str
    type: Type
    required: bool = False
    pointer: bool = False
    """Whether false, 0 and an empty text are kept when they are given."""
    omitted: bool = False
    """Whether the field is left away when it is empty; else it is always written."""
    inlined: str = ""
    """The struct inside of the object's own that has the field, as its decoder names it."""

    @property
    def default(self) -> Json | _Missing:
        """What the field is when it is not given."""
        return self.type.default


@dataclass(slots=True, eq=False)
class Type:
    """How a value is made. Types of built-in kinds are shared: never change one."""

    kind: Kind
    format: str = ""
    """`int32`, `int64`, `double`; of texts of custom kinds whatever their schema says."""
    name: str = ""
    """The definition of an object, as `core.v1.Container`; custom kinds have none below the top."""
    go: str = ""
    """How Go calls it: `v1.Container`, `[]string`, `int32`."""
    element: Type | None = None
    """The type of the entries of a list or of the values of a map."""
    list_kind: ListKind = ListKind.ATOMIC
    keys: tuple[str, ...] = ()
    """The fields that tell the entries of a list of kind MAP apart."""
    atomic: bool = False
    """Whether an object or a map has one owner as a whole."""
    merges: bool = False
    """Whether a strategic merge patch merges the list; else it replaces it."""
    merge_key: str = ""
    """The field by which it does; empty: entries are texts or numbers."""
    retains_keys: bool = False
    """Whether a strategic merge patch may name the keys to keep (`$retainKeys`)."""
    enum: tuple[Json, ...] = ()
    default: Json | _Missing = MISSING
    nullable: bool = False
    is_open: bool = False
    """Whether unknown fields are kept: they and what is below them are never looked at."""
    embedded: bool = False
    """Whether it is a whole object with apiVersion, kind and metadata."""
    is_custom: bool = False
    """Whether it comes from a structural schema."""
    rules: Mapping[str, Json] = field(default_factory=dict)
    """What a structural schema demands: `minimum`, `pattern`, `anyOf` and so on, as it says it."""
    _made: Callable[[], Mapping[str, Field]] | None = None
    _fields: Mapping[str, Field] | None = None

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of an object in the order in which they are written."""
        if self._fields is None:
            self._fields = {} if self._made is None else self._made()
        return self._fields

    def field(self, name: str) -> Field | None:
        """A field by its name; None: there is no such one."""
        return self.fields.get(name)

    def below(self, name: str) -> Type | None:
        """The type of what is under a name in an object or a map; None: nothing may be there."""
        fields = self._fields
        content = (self.fields if fields is None else fields).get(name)
        if content is not None:
            return content.type
        return self.element if self.kind is not Kind.LIST else None


ANYTHING = Type(Kind.ANY, is_open=True)
"""A value that is not looked at."""
