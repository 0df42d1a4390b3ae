"""Property strings: `virtio,bridge=vmbr0,tag=62` against the keys that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stockman_lab.pve.property_pairs import BadPairs, read_pairs
from stockman_lab.pve.schema import texts
from stockman_lab.pve.schema.rule import Check, Rule
from stockman_lab.pve.schema.shape import Part, Shape

Validator = Callable[[Mapping[str, str]], str | None]
"""Looks at all keys together; what is wrong, None if nothing."""


class PropertyString:
    """The format of one property string."""

    def __init__(
        self,
        keys: Mapping[str, Part],
        formats: Callable[[Shape], Check | None],
        profile: str,
        validator: Validator | None = None,
    ) -> None:
        self._keys = {name: key.shape for name, key in keys.items()}
        self._rules = {name: Rule(shape, formats) for name, shape in self._keys.items()}
        self._required = [
            name for name, key in keys.items() if not (key.optional or key.shape.alias)
        ]
        self._bare = next((name for name, shape in self._keys.items() if shape.bare), "")
        self._profile = profile
        self._validator = validator

    def problem(self, text: str, path: str) -> str | None:
        """What is wrong with a text; None if nothing."""
        try:
            values = self.values(text)
        except BadPairs as error:
            return f"{error}\n"
        if errors := self._errors(values, path):
            return texts.BROKEN_KEYS + "".join(f"{key}: {why}\n" for key, why in errors.items())
        broken = self._validator(values) if self._validator else None
        return None if broken is None else f"{broken}\n"

    def values(self, text: str) -> dict[str, str]:
        """Keys and values, aliases resolved; raises `BadPairs`."""
        return read_pairs(text, self._keys, self._bare, is_old=self._profile == "8.4")

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
