"""Property strings: `virtio,bridge=vmbr0,tag=62` against the keys that are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stockman.lab.pve.schema import texts
from stockman.lab.pve.schema.rule import Check, Rule
from stockman.lab.pve.schema.shape import Part, Shape

_PAIR = re.compile(r"([^=]+)=(.+)$")
_TRUE = frozenset({"1", "on", "yes", "true"})
_FALSE = frozenset({"0", "off", "no", "false"})
_LIST = "in comma-separated list property"

Validator = Callable[[Mapping[str, str]], str | None]
"""Looks at all keys together; what is wrong, None if nothing."""


class Unreadable(Exception):
    """The text is no list of keys and values."""


class PropertyString:
    """The format of one property string."""

    def __init__(
        self,
        keys: Mapping[str, Part],
        formats: Callable[[Shape], Check | None],
        profile: str,
        validator: Validator | None = None,
    ) -> None:
        self._keys = {name: part.shape for name, part in keys.items()}
        self._rules = {name: Rule(shape, formats) for name, shape in self._keys.items()}
        self._required = [
            name for name, part in keys.items() if not (part.optional or part.shape.alias)
        ]
        self._bare = next((name for name, shape in self._keys.items() if shape.bare), "")
        self._profile = profile
        self._validator = validator

    def problem(self, text: str, path: str) -> str | None:
        """What is wrong with a text; None if nothing."""
        try:
            values = self.values(text)
        except Unreadable as error:
            return f"{error}\n"
        if errors := self._errors(values, path):
            return texts.BROKEN_KEYS + "".join(f"{key}: {why}\n" for key, why in errors.items())
        broken = self._validator(values) if self._validator else None
        return None if broken is None else f"{broken}\n"

    def values(self, text: str) -> dict[str, str]:
        """Keys and values, aliases resolved; raises `Unreadable`."""
        found: dict[str, str] = {}
        bare_seen = False
        for piece in text.split(","):
            if not piece or piece.isspace():
                continue
            if pair := _PAIR.match(piece):
                self._put(found, pair[1], pair[2])
            elif "=" in piece:
                raise Unreadable(f"missing key {_LIST}")
            elif not self._bare:
                raise Unreadable("value without key, but schema does not define a default key")
            elif bare_seen or found.get(self._bare, "0") not in {"", "0"}:
                raise Unreadable(f"duplicate key {_LIST}: {self._bare}")
            else:
                bare_seen = True
                found[self._bare] = self._bare_value(piece)
        return found

    def _put(self, found: dict[str, str], key: str, value: str) -> None:
        if key in found:
            raise Unreadable(f"duplicate key {_LIST}: {key}")
        shape = self._keys.get(key)
        if shape is not None and shape.alias:
            if shape.kept_in:
                if shape.kept_in in found:
                    raise Unreadable(f"key alias '{shape.kept_in}' is already defined")
                found[shape.kept_in] = key
            key = shape.alias
            shape = self._keys.get(key)
            if key in found and self._profile != "8.4":
                raise Unreadable(f"key '{key}' is already defined (via alias)")
        found[key] = _value(shape, value)

    def _bare_value(self, text: str) -> str:
        return text if self._profile == "8.4" else _value(self._keys[self._bare], text)

    def _errors(self, values: Mapping[str, str], path: str) -> dict[str, str]:
        errors: dict[str, str] = {}
        for name in self._required:
            if name not in values:
                texts.add(errors, f"{path}.{name}", texts.MISSING)
        for name, value in values.items():
            place = f"{path}.{name}"
            rule = self._rules.get(name)
            if rule is None:
                texts.add(errors, place, texts.NOT_DEFINED)
                continue
            if (problem := rule.problem(value, place)) is not None:
                texts.add(errors, place, problem)
            if rule.needs and rule.needs not in values:
                texts.add(errors, f"{path}.{rule.needs}", texts.needed_by(self._profile, place))
        return errors


def _value(shape: Shape | None, text: str) -> str:
    if shape is not None and shape.kind == "boolean":
        lower = text.lower()
        return "1" if lower in _TRUE else "0" if lower in _FALSE else text
    return text
