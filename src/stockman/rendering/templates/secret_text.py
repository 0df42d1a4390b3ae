"""Strings that contain secrets: they stay marked whatever a template does with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import SupportsIndex

from markupsafe import Markup

from stockman.rendering.templates.contract import TemplateStopped

Labels = frozenset[str]
_NO_LABELS: Labels = frozenset()


class SecretText(str):
    """A string that contains a secret."""

    __slots__ = ("_labels",)
    _labels: Labels

    def __getitem__(self, key: SupportsIndex | slice, /) -> str:
        return mark_secret(str.__getitem__(self, key), self._labels)

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            yield mark_secret(character, self._labels)


class SecretMarkup(Markup):
    """The same for a string that is marked as safe HTML."""

    __slots__ = ("_labels",)
    _labels: Labels

    def __getitem__(self, key: SupportsIndex | slice, /) -> SecretMarkup:
        return _mark_markup(str.__getitem__(self, key), secret_labels(self))

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            yield _mark_markup(character, secret_labels(self))


class UnresolvedSecret:
    """Stands for a secret whose value is unknown: it exists, but has no text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def stop_problem(self) -> TemplateStopped:
        """Return the problem of a template that needs the text."""
        return TemplateStopped(
            code="template.secret-withheld",
            what=f"{self._name} is used, but its value is unknown",
            why="the file contains a reference or ciphertext that was not resolved",
            fix="provide the key or the variable that it needs",
        )

    def __str__(self) -> str:
        raise self.stop_problem()

    def __len__(self) -> int:
        raise self.stop_problem()

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        raise self.stop_problem()

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        raise self.stop_problem()

    def __getitem__(self, key: object) -> str:
        raise self.stop_problem()


def mark_secret(text: str, labels: Labels) -> str:
    """Return the text, marked with these secrets."""
    if not labels:
        return text
    if isinstance(text, Markup):
        return _mark_markup(text, labels)
    marked = SecretText(text)
    marked._labels = labels | secret_labels(text)
    return marked


def _mark_markup(text: str, labels: Labels) -> SecretMarkup:
    marked = SecretMarkup(text)
    marked._labels = labels | secret_labels(text)
    return marked


def secret_labels(text: object) -> Labels:
    """Return the names of the secrets in a text."""
    if isinstance(text, SecretText | SecretMarkup):
        return getattr(text, "_labels", _NO_LABELS)
    return _NO_LABELS


def mark_all_secrets(value: object, labels: Labels) -> object:
    """Return a value in which all strings are marked with these secrets."""
    if not labels:
        return value
    if isinstance(value, str):
        return mark_secret(value, labels)
    if type(value) is list:
        return [mark_all_secrets(item, labels) for item in value]
    if type(value) is tuple:
        return tuple(mark_all_secrets(item, labels) for item in value)
    return value
