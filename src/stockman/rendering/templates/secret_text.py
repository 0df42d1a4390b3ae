"""Texts that hold a secret, and know which: they stay marked through everything a template does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import SupportsIndex

from markupsafe import Markup

from stockman.rendering.templates.errors import TemplateStopped

Labels = frozenset[str]
_NO_LABELS: Labels = frozenset()


class SecretText(str):
    """A text with a secret in it."""

    __slots__ = ("_labels",)
    _labels: Labels

    def __getitem__(self, key: SupportsIndex | slice, /) -> str:
        return mark_secret(str.__getitem__(self, key), self._labels)

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            yield mark_secret(character, self._labels)


class SecretMarkup(Markup):
    """The same of a text that is marked as safe for HTML."""

    __slots__ = ("_labels",)
    _labels: Labels

    def __getitem__(self, key: SupportsIndex | slice, /) -> SecretMarkup:
        return _mark_markup(str.__getitem__(self, key), secret_labels(self))

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            yield _mark_markup(character, secret_labels(self))


class UnresolvedSecret:
    """What stands for a secret of which only a reference is known: it is there, but has no text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def stopped(self) -> TemplateStopped:
        """What is said where a template needs the text."""
        return TemplateStopped(
            code="template.secret-withheld",
            what=f"{self._name} is used, but is not known",
            why="the file holds a reference to it or its ciphertext, and it was not opened",
            fix="give the key or the variable that it needs",
        )

    def __str__(self) -> str:
        raise self.stopped()

    def __len__(self) -> int:
        raise self.stopped()

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        raise self.stopped()

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        raise self.stopped()

    def __getitem__(self, key: object) -> str:
        raise self.stopped()


def mark_secret(text: str, labels: Labels) -> str:
    """The same text, known to hold these secrets."""
    if not labels:
        return text
    if isinstance(text, Markup):
        return _mark_markup(text, labels)
    made = SecretText(text)
    made._labels = labels | secret_labels(text)
    return made


def _mark_markup(text: str, labels: Labels) -> SecretMarkup:
    made = SecretMarkup(text)
    made._labels = labels | secret_labels(text)
    return made


def secret_labels(text: object) -> Labels:
    """Names of the secrets that a text is known to hold."""
    if isinstance(text, SecretText | SecretMarkup):
        return getattr(text, "_labels", _NO_LABELS)
    return _NO_LABELS


def mark_all_secrets(value: object, labels: Labels) -> object:
    """A value in which every text is known to hold these secrets."""
    if not labels:
        return value
    if isinstance(value, str):
        return mark_secret(value, labels)
    if type(value) is list:
        return [mark_all_secrets(item, labels) for item in value]
    if type(value) is tuple:
        return tuple(mark_all_secrets(item, labels) for item in value)
    return value
