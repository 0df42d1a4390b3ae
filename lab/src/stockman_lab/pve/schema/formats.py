"""Formats of one profile: named ones, their lists, and property strings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.schema import property_formats
from stockman_lab.pve.schema.named_formats import Checker, checkers
from stockman_lab.pve.schema.property_formats import PropertyString
from stockman_lab.pve.schema.rule import Check, bad_format, is_true
from stockman_lab.pve.schema.shape import Part, Shape


class Formats:
    """What the formats of one profile demand."""

    def __init__(self, profile: str) -> None:
        self._profile = profile
        self._checkers = checkers(profile)
        self._keys = property_formats.keys(profile)
        self._property_strings: dict[str, Check] = {}
        self._checks: dict[str, Check] = {}

    def check(self, shape: Shape) -> Check | None:
        """The check of a shape's format; None when it has none, or one that is not checked."""
        if shape.keys is not None:
            return _spoken(self._property_string(shape.keys).problem)
        if shape.form and self.is_known(shape.form):
            check = self._checks.get(shape.form)
            if check is None:
                check = self._checks[shape.form] = _spoken(self._named(shape.form))
            return check
        return None

    def is_known(self, form: str) -> bool:
        """Whether values of a named format are checked."""
        name = _base(form)
        return name in self._checkers or name in self._keys

    def _named(self, form: str) -> Check:
        if form in self._keys:
            return self._property_string(self._keys[form], form).problem
        checker = self._checkers[_base(form)]
        if form.endswith("-list"):
            return _each(checker)
        if form.endswith("-opt"):
            return lambda text, path: _ended(checker(text)) if is_true(text) else None
        return lambda text, path: _ended(checker(text))

    def _property_string(self, keys: Mapping[str, Part], form: str = "") -> PropertyString:
        return PropertyString(
            keys, self.check, self._profile, property_formats.VALIDATORS.get(form)
        )


@cache
def formats_of(profile: str) -> Formats:
    """The formats of a profile."""
    return Formats(profile)


def _base(form: str) -> str:
    return form.removesuffix("-list").removesuffix("-opt")


def _each(checker: Checker) -> Check:
    def check(text: str, path: str) -> str | None:
        del path
        for item in split_list(text):
            if (problem := checker(item)) is not None:
                return f"{problem}\n"
        return None

    return check


def _ended(problem: str | None) -> str | None:
    return None if problem is None else f"{problem}\n"


def _spoken(check: Check) -> Check:
    def spoken(text: str, path: str) -> str | None:
        problem = check(text, path)
        return None if problem is None else bad_format(problem)

    return spoken
