"""Records: frozen, keyword-only dataclasses.

Their methods are shared instead of generated for every class: generating them takes most of the
time needed to import a hundred records, which every command would pay for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from datetime import datetime
from enum import Enum
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeGuard, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
_FIELDS_ATTRIBUTE = "__record_fields__"
_INIT_ATTRIBUTE = "__record_filling__"
SCALAR_TYPES = frozenset({str, int, bool, float, type(None)})
"""Types without nested values that are valid JSON values; most values have one of them."""


def require(value: T | None) -> T:
    """Return a value that is certain to be set, such as a default that was applied."""
    if value is None:
        raise ValueError("a required value is missing although no rule reported it")
    return value


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a record: immutable, compared by value, constructed with keywords."""
    describe_fields(cls, kw_only=True)
    for name, method in _METHODS.items():
        setattr(cls, name, method)
    return cls


def describe_fields(cls: type, *, kw_only: bool) -> None:
    """Register the declared fields of a class for `dataclasses` and `fields_of`."""
    declared = {
        name: descriptor
        for base in reversed(cls.__mro__[1:])
        for name, descriptor in getattr(base, _DATACLASS_FIELDS, {}).items()
    }
    for name, hint in get_annotations(cls).items():
        if "ClassVar" not in str(hint):
            declared[name] = _build_field(cls, name, hint)
            declared[name].kw_only = kw_only
    setattr(cls, _DATACLASS_FIELDS, declared)
    setattr(cls, _FIELDS_ATTRIBUTE, tuple(declared.values()))
    setattr(cls, _INIT_ATTRIBUTE, _build_init_plan(declared))


class _InitPlan(NamedTuple):
    """How instances of a class are initialized, computed once."""

    names: frozenset[str]
    defaults: dict[str, object]
    factories: tuple[tuple[str, Callable[[], object]], ...]


def _build_init_plan(declared: dict[str, Field[Any]]) -> _InitPlan:
    without_default = [
        (name, descriptor) for name, descriptor in declared.items() if descriptor.default is MISSING
    ]
    return _InitPlan(
        names=frozenset(declared),
        defaults={
            name: descriptor.default
            for name, descriptor in declared.items()
            if descriptor.default is not MISSING
        },
        factories=tuple(
            (name, descriptor.default_factory)
            for name, descriptor in without_default
            if descriptor.default_factory is not MISSING
        ),
    )


@dataclass
class _SampleDataclass:
    field: int


_DATACLASS_FIELDS = "__dataclass_fields__"
_SAMPLE_FIELD = fields(_SampleDataclass)[0]


def _build_field(cls: type, name: str, hint: object) -> Field[Any]:
    """Build a dataclass field, so that `fields` and `replace` work.

    Annotations are not searched for `ClassVar` and `InitVar` again, which would take most of the
    time.
    """
    default = cls.__dict__.get(name, MISSING)
    if isinstance(default, Field):
        descriptor = default
        if descriptor.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, descriptor.default)
    else:
        descriptor = field(default=default)
    if isinstance(descriptor.default, list | dict | set):
        raise ValueError(f"{cls.__name__}.{name} would share one default among all")
    descriptor.name, descriptor.type = name, hint
    descriptor._field_type = _SAMPLE_FIELD._field_type  # type: ignore[attr-defined]
    return descriptor


def initialize(self: DataclassInstance, **values: object) -> None:
    """Set the fields of an instance, and defaults for missing ones."""
    names, defaults, factories = type(self).__record_filling__  # type: ignore[attr-defined]
    own = self.__dict__
    own.update(defaults)
    own.update(values)
    for name, make in factories:
        if name not in values:
            own[name] = make()
    if own.keys() != names:
        raise TypeError(_signature_error(type(self).__name__, names, own.keys()))


def _signature_error(cls: str, names: frozenset[str], names_given: Collection[str]) -> str:
    missing = sorted(names.difference(names_given))
    if missing:
        return f"{cls} needs {', '.join(missing)}"
    return f"{cls} has no {', '.join(name for name in names_given if name not in names)}"


def represent(self: DataclassInstance) -> str:
    """Return the representation of an instance for debugging."""
    values = ", ".join(
        f"{descriptor.name}={getattr(self, descriptor.name)!r}"
        for descriptor in fields_of(self)
        if descriptor.repr
    )
    return f"{type(self).__name__}({values})"


def _comparison_key(value: DataclassInstance) -> tuple[object, ...]:
    return tuple(
        getattr(value, descriptor.name) for descriptor in fields_of(value) if descriptor.compare
    )


def records_equal(self: DataclassInstance, other_record: object) -> object:
    """Return whether two records have the same class and values."""
    if type(other_record) is not type(self):
        return NotImplemented
    return is_record(other_record) and _comparison_key(self) == _comparison_key(other_record)


def _hash_record(self: DataclassInstance) -> int:
    return hash(_comparison_key(self))


def _refuse_assignment(self: DataclassInstance, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be changed")


def _refuse_deletion(self: DataclassInstance, name: str) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot be removed")


_METHODS = {
    "__init__": initialize,
    "__repr__": represent,
    "__eq__": records_equal,
    "__hash__": _hash_record,
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
}


def is_record(value: object) -> TypeGuard[DataclassInstance]:
    """Return whether a value is an instance (not the class) of a record."""
    return hasattr(type(value), _FIELDS_ATTRIBUTE)


def fields_of(value: DataclassInstance) -> tuple[Field[Any], ...]:
    """Return the fields of a record, computed once per class."""
    declared: tuple[Field[Any], ...] = type(value).__record_fields__  # type: ignore[attr-defined]
    return declared


_NUMBERS, _LISTS, _SETS = (int, float), (tuple, list), (frozenset, set)


def to_plain_value(value: object) -> object:
    """Return a value as JSON data: records become mappings, other types become texts.

    Secrets become `***`, which is their text.
    """
    if type(value) in SCALAR_TYPES or isinstance(value, _NUMBERS):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): to_plain_value(item) for key, item in value.items()}
    if is_record(value):
        return {
            descriptor.name: to_plain_value(getattr(value, descriptor.name))
            for descriptor in fields_of(value)
            if descriptor.metadata.get("shown", True)
        }
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, _SETS):
        return [to_plain_value(item) for item in sorted(value, key=str)]
    if isinstance(value, _LISTS):
        return [to_plain_value(item) for item in value]
    return str(value)
