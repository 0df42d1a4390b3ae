"""Rules: shapes made ready to check values, in the order in which the real checks run."""

from __future__ import annotations

import re
from collections.abc import Callable

from stockman_lab.pve.schema import texts
from stockman_lab.pve.schema.perl import (
    integer,
    is_integer,
    is_number,
    is_true,
    number,
    reference,
    text_of,
)
from stockman_lab.pve.schema.shape import Scalar, Shape

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
            texts.add(errors, path, problem)
            return REFUSED
        return integer(value) if self.kind in {"integer", "boolean"} else value

    def problem(self, text: str, path: str) -> str | None:
        """What is wrong with a scalar; None if nothing."""
        kind = self.kind
        if kind == "boolean":
            if text not in {"0", "1"}:
                return texts.wrong_kind(kind, f" - got '{text}'")
        elif (kind == "integer" and not is_integer(text)) or (
            kind == "number" and not is_number(text)
        ):
            return texts.wrong_kind(kind, f" - got '{text}'")
        elif kind in {"array", "object"}:
            return texts.wrong_kind(kind)
        elif kind == "null":
            return texts.wrong_kind(kind, " - value is not null")
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
        texts.add(errors, path, texts.wrong_kind(self.kind, got))
        return REFUSED

    def _typed_items(
        self, values: list[object] | tuple[object, ...], path: str, errors: dict[str, str]
    ) -> object:
        if self._items is None:
            return list(values)
        typed_items = []
        for place, value in enumerate(values):
            if value is None:
                texts.add(errors, f"{path}[{place}]", texts.MISSING)
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
    return lambda text, path: None if search(text) else texts.NO_MATCH


def _not_longer(most: int) -> Check:
    problem = texts.too_long(most)
    return lambda text, path: problem if len(text) > most else None


def _not_shorter(least: int) -> Check:
    problem = texts.too_short(least)
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
            return texts.too_large(most)
        return texts.too_small(least) if value < lower else None

    return check


def _one_of(options: tuple[str, ...]) -> Check:
    known = frozenset(options)
    return lambda text, path: None if text in known else texts.not_an_option(text, options)
