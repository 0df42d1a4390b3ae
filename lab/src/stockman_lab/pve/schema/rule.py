"""Rules: shapes made ready to check values, in the order in which the real checks run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from stockman_lab.pve.schema.shape import Scalar, Shape

MISSING = "property is missing and it is not optional"
NOT_DEFINED = (
    "property is not defined in schema and the schema does not allow additional properties"
)
NO_MATCH = "value does not match the regex pattern"
CONFLICT = "duplicate parameter (already defined in URI) with conflicting values!"
BROKEN_KEYS = "format error\n"


def wrong_kind(kind: str, got: str = "") -> str:
    """A value is not of its kind."""
    return f"type check ('{kind}') failed{got}"


def too_long(most: int) -> str:
    """A text has too many characters."""
    return f"value may only be {most} characters long"


def too_short(least: int) -> str:
    """A text has too few characters."""
    return f"value must be at least {least} characters long"


def too_small(least: object) -> str:
    """A number is below its bound."""
    return f"value must have a minimum value of {least}"


def too_large(most: object) -> str:
    """A number is above its bound."""
    return f"value must have a maximum value of {most}"


def not_an_option(value: str, options: Iterable[str]) -> str:
    """A value is not in its enumeration."""
    return f"value '{value}' does not have a value in the enumeration '{', '.join(options)}'"


def bad_format(problem: str) -> str:
    """A value breaks its format."""
    return f"invalid format - {problem}"


def needs_text(profile: str, name: str) -> str:
    """A property has to be given because another one is."""
    if profile == "8.4":
        return f"missing property - '{name}' requires this property"
    return f"missing property required by '{name}'"


def add_problem(errors: dict[str, str], path: str, problem: str) -> None:
    """Note a problem; a second one at the same place is joined by a backslash and an n."""
    errors[path] = f"{errors[path]}\\n{problem}" if path in errors else problem


_INTEGER = re.compile(r"[+-]?\d+$")
_NUMBER = re.compile(r"[+-]?(\d+\.\d+|\d+\.|\.\d+|\d+)([eE][+-]?\d+)?$")
_ASCII_NUMBER = re.compile(r"[+-]?[0-9]+")
_LARGEST = 2**63 - 1
_MOST_DIGITS = 300
_MOST_BITS = 1000


def text_of(value: object) -> str:
    """A scalar as text: 1.0 is `1`, 1e20 is `1e+20`."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.15g}".replace("inf", "Inf").replace("nan", "NaN")
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MOST_BITS else "Inf"
    return "" if value is None else f"{reference(value)}(0x0)"


def reference(value: object) -> str:
    """The name of what is no scalar, "" for a scalar."""
    if isinstance(value, bool):
        return "JSON::PP::Boolean"
    if isinstance(value, list | tuple):
        return "ARRAY"
    return "HASH" if isinstance(value, dict) else ""


def is_true(value: object) -> bool:
    """Whether Perl takes a value for true: the texts "" and "0" are not, every list is."""
    return isinstance(value, list | tuple | dict) or (bool(value) and value != "0")


def is_integer(text: str) -> bool:
    """Whether a text is a whole number."""
    return _INTEGER.match(text) is not None


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    return _NUMBER.match(text) is not None


def integer(text: str) -> int:
    """The whole number that a text means, held to 64 bits; digits of other scripts end it."""
    if not text.isascii():
        leading = _ASCII_NUMBER.match(text)
        text = leading[0] if leading else "0"
    if len(text) > _MOST_DIGITS:
        return -_LARGEST if text.startswith("-") else _LARGEST
    return max(-_LARGEST, min(_LARGEST, int(text)))


def number(text: str) -> float:
    """The number that a text means."""
    return integer(text) if is_integer(text) or not text.isascii() else float(text)


Check = Callable[[str, str], str | None]
"""Value and path to what is wrong, None if nothing."""

REFUSED = object()
"""What `Rule.typed` returns for a value that does not fit."""


class Rule:
    """What one property demands of its value."""

    __slots__ = ("_items", "_variants", "checks", "chosen_by", "form", "kind", "needs", "shape")

    def __init__(self, shape: Shape, formats: Callable[[Shape], Check | None]) -> None:
        self.shape = shape
        self.kind = shape.kind
        self.form = shape.form
        self.needs = shape.needs
        self.chosen_by = shape.chosen_by if shape.variants else ""
        self.checks = tuple(_checks(shape, formats))
        self._items = Rule(shape.items, formats) if shape.items else None
        self._variants = {
            name: Rule(variant, formats) for names, variant in shape.variants for name in names
        }

    def variant(self, choice: object) -> Rule | None:
        """The rule that holds for a choice, if any."""
        return self._variants.get(choice) if isinstance(choice, str) else None

    def typed(self, value: object, path: str, errors: dict[str, str]) -> object:
        """The value in its kind, or `REFUSED` after noting why.

        Booleans become 1 or 0, integers int, numbers and strings the text that Perl would keep.
        """
        if not isinstance(value, str) or self.kind == "array":
            value = self._normalised(value)
            if (kind := reference(value)) != "":
                return self._typed_reference(value, kind, path, errors)
            value = text_of(value)
        if (problem := self.problem(value, path)) is not None:
            add_problem(errors, path, problem)
            return REFUSED
        return integer(value) if self.kind in {"integer", "boolean"} else value

    def problem(self, text: str, path: str) -> str | None:
        """What is wrong with a scalar; None if nothing."""
        kind = self.kind
        if kind == "boolean":
            if text not in {"0", "1"}:
                return wrong_kind(kind, f" - got '{text}'")
        elif (kind == "integer" and not is_integer(text)) or (
            kind == "number" and not is_number(text)
        ):
            return wrong_kind(kind, f" - got '{text}'")
        elif kind in {"array", "object"}:
            return wrong_kind(kind)
        elif kind == "null":
            return wrong_kind(kind, " - value is not null")
        for check in self.checks:
            if (problem := check(text, path)) is not None:
                return problem
        return None

    def _normalised(self, value: object) -> object:
        """A value as form bodies mean it: lists joined for `-list` formats, scalars wrapped."""
        if not is_true(value):
            return value
        kind = reference(value)
        if kind == "ARRAY" and self.kind == "string" and self.form.endswith("-list"):
            items = value if isinstance(value, list | tuple) else ()
            return ",".join(text_of(item) for item in items)
        return [value] if not kind and self.kind == "array" else value

    def _typed_reference(
        self, value: object, kind: str, path: str, errors: dict[str, str]
    ) -> object:
        if self.kind in {"", "any"}:
            return value
        if self.kind == "boolean" and isinstance(value, bool):
            return int(value)
        if self.kind == "array" and isinstance(value, list | tuple):
            return self._typed_items(value, path, errors)
        if self.kind == "object" and kind == "HASH":
            return value
        got = "" if self.kind in {"array", "object"} else f" - got {kind}"
        if self.kind == "null":
            got = " - value is not null"
        add_problem(errors, path, wrong_kind(self.kind, got))
        return REFUSED

    def _typed_items(
        self, values: list[object] | tuple[object, ...], path: str, errors: dict[str, str]
    ) -> object:
        if self._items is None:
            return list(values)
        typed_items = []
        for place, value in enumerate(values):
            if value is None:
                add_problem(errors, f"{path}[{place}]", MISSING)
            else:
                typed_items.append(self._items.typed(value, f"{path}[{place}]", errors))
        return typed_items


def _checks(shape: Shape, formats: Callable[[Shape], Check | None]) -> list[Check]:
    checks: list[Check | None] = [
        formats(shape),
        _matches(shape.pattern) if shape.pattern else None,
        _not_longer(shape.longest) if shape.longest is not None else None,
        _not_shorter(shape.shortest) if shape.shortest is not None else None,
        None if shape.least is shape.most is None else _within(shape.least, shape.most),
        _one_of(shape.options) if shape.options else None,
    ]
    return [check for check in checks if check is not None]


def _matches(pattern: str) -> Check:
    search = re.compile(f"^{pattern}$").search
    return lambda text, path: None if search(text) else NO_MATCH


def _not_longer(most: int) -> Check:
    problem = too_long(most)
    return lambda text, path: problem if len(text) > most else None


def _not_shorter(least: int) -> Check:
    problem = too_short(least)
    return lambda text, path: problem if len(text) < least else None


def _within(least: Scalar | None, most: Scalar | None) -> Check:
    lower = float("-inf") if least is None else number(text_of(least))
    upper = float("inf") if most is None else number(text_of(most))

    def check(text: str, path: str) -> str | None:
        del path
        if not is_number(text):
            return None
        value = number(text)
        if value > upper:
            return too_large(most)
        return too_small(least) if value < lower else None

    return check


def _one_of(options: tuple[str, ...]) -> Check:
    known = frozenset(options)
    return lambda text, path: None if text in known else not_an_option(text, options)
