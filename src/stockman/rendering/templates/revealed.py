"""Texts that hold a secret, and know which: they stay marked through everything a template does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import SupportsIndex

from markupsafe import Markup

from stockman.rendering.templates.stopped import Stopped

Labels = frozenset[str]
_NONE: Labels = frozenset()


class Revealed(str):
    """A text with a secret in it."""

    __slots__ = ("_labels",)
    _labels: Labels

    def __getitem__(self, key: SupportsIndex | slice, /) -> str:
        return revealed(str.__getitem__(self, key), self._labels)

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            yield revealed(character, self._labels)


class RevealedMarkup(Markup):
    """The same of a text that is marked as safe for HTML."""

    __slots__ = ("_labels",)
    _labels: Labels

    def __getitem__(self, key: SupportsIndex | slice, /) -> RevealedMarkup:
        return _marked_up(str.__getitem__(self, key), labels_of(self))

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            yield _marked_up(character, labels_of(self))


class Withheld:
    """What stands for a secret of which only a reference is known: it is there, but has no text."""

    def __init__(self, name: str) -> None:
        self._name = name

    def stopped(self) -> Stopped:
        """What is said where a template needs the text."""
        return Stopped(
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


def revealed(text: str, labels: Labels) -> str:
    """The same text, known to hold these secrets."""
    if not labels:
        return text
    if isinstance(text, Markup):
        return _marked_up(text, labels)
    made = Revealed(text)
    made._labels = labels | labels_of(text)
    return made


def _marked_up(text: str, labels: Labels) -> RevealedMarkup:
    made = RevealedMarkup(text)
    made._labels = labels | labels_of(text)
    return made


def labels_of(text: object) -> Labels:
    """Names of the secrets that a text is known to hold."""
    if isinstance(text, Revealed | RevealedMarkup):
        return getattr(text, "_labels", _NONE)
    return _NONE


def all_revealed(value: object, labels: Labels) -> object:
    """A value in which every text is known to hold these secrets."""
    if not labels:
        return value
    if isinstance(value, str):
        return revealed(value, labels)
    if type(value) is list:
        return [all_revealed(item, labels) for item in value]
    if type(value) is tuple:
        return tuple(all_revealed(item, labels) for item in value)
    return value
