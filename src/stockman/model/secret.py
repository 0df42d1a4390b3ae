"""Confidential values: typed, opaque, printed as `***` in every form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from typing import NoReturn, TypeVar

from stockman.model.origin import Origin, Traced
from stockman.model.pattern import pattern
from stockman.model.record import SCALAR_TYPES, fields_of, is_record

MASK = "***"
_ENVIRONMENT = pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ENCRYPTED = pattern(r"ENC\[[A-Z0-9_]+,.*\]", re.DOTALL)


class SecretForm(Enum):
    """How a secret is written in a file."""

    ENCRYPTED = "encrypted"
    ENVIRONMENT = "environment"
    FILE = "file"
    SOPS = "sops"
    LITERAL = "literal"


class Secret:
    """A confidential value, or a reference to one.

    `repr`, `str`, `format`, JSON and exceptions show `***`; pickling is refused. Only `reveal()`
    returns the text. With `resolved` the text is the secret itself, even if it looks like a
    reference.
    """

    __slots__ = ("_resolved", "_text")

    def __init__(self, text: str, *, resolved: bool = False) -> None:
        self._text = text
        self._resolved = resolved

    def reveal(self) -> str:
        """Return the text of the secret: the reference or the literal."""
        return self._text

    @property
    def form(self) -> SecretForm:
        return SecretForm.LITERAL if self._resolved else secret_form(self._text)

    @property
    def reference(self) -> str:
        """Printable description: the name of a variable or file, never a value."""
        if self.form in (SecretForm.ENVIRONMENT, SecretForm.FILE, SecretForm.SOPS):
            return self._text
        return "ENC[...]" if self.form is SecretForm.ENCRYPTED else MASK

    def __eq__(self, value: object) -> bool:
        return isinstance(value, Secret) and value._text == self._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret cannot be pickled")


def is_encrypted(text: str) -> bool:
    """Return whether a text is a value encrypted by SOPS."""
    return _ENCRYPTED.fullmatch(text) is not None


def secret_form(text: str) -> SecretForm:
    """Return how a secret is written: as a reference, encrypted, or as a literal."""
    if is_encrypted(text):
        return SecretForm.ENCRYPTED
    if _ENVIRONMENT.fullmatch(text):
        return SecretForm.ENVIRONMENT
    if text.startswith("file:") and len(text) > len("file:"):
        return SecretForm.FILE
    if text.startswith("sops:") and "#" in text[5:]:
        return SecretForm.SOPS
    return SecretForm.LITERAL


_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LONGEST = 600


def clean_text(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Return a text of another system without secrets and control characters, shortened."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    cleaned = _CONTROL.sub(" ", text).strip()
    return cleaned if len(cleaned) <= _LONGEST else f"{cleaned[:_LONGEST]}..."


T = TypeVar("T")
SecretChange = Callable[[Secret, "Origin | None"], Secret]


def find_secrets(value: object, name: str = "") -> Iterator[tuple[str, Secret]]:
    """Yield every secret in a value, in the order of the fields, with its name as written by the
    user.

    If that is unknown, the name is the path of field names. Names may occur more than once.
    """
    if isinstance(value, Secret):
        yield name, value
    elif type(value) in SCALAR_TYPES:
        return
    elif is_record(value):
        for field in fields_of(value):
            item = getattr(value, field.name)
            if type(item) not in SCALAR_TYPES and field.metadata.get("shown", True):
                known = _user_key(value, field.name) if isinstance(item, Secret) else ""
                yield from find_secrets(item, known or _join_path(name, field.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            if type(item) not in SCALAR_TYPES:
                yield from find_secrets(item, _join_path(name, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            if type(item) not in SCALAR_TYPES:
                yield from find_secrets(item, f"{name}[{number}]")


def holds_secret(value: object) -> bool:
    """Return whether a value is a secret or contains one."""
    return next(find_secrets(value), None) is not None


def replace_secrets(value: T, change: SecretChange, origin: Origin | None = None) -> T:
    """Return the value with all secrets replaced; the same object if nothing changes.

    `change` gets every secret, and its origin if known.
    """
    if type(value) in SCALAR_TYPES:
        return value
    result: object = value
    if isinstance(value, Secret):
        result = change(value, origin)
    elif isinstance(value, tuple) and type(value) is tuple:
        items = tuple(replace_secrets(item, change, origin) for item in value)
        result = value if all(map(_is_same, items, value)) else items
    elif is_record(value):
        result = _replace_in_record(value, change)
    elif isinstance(value, dict):
        replaced = {key: replace_secrets(item, change, origin) for key, item in value.items()}
        result = value if all(replaced[key] is item for key, item in value.items()) else replaced
    return result  # type: ignore[return-value]  # of the type of the value, piece by piece


def _replace_in_record(value: object, change: SecretChange) -> object:
    changed: dict[str, object] = {}
    values = value.__dict__
    for field in fields_of(value):  # type: ignore[arg-type]  # asked with `is_record`
        old = values[field.name]
        if not old or type(old) in SCALAR_TYPES or not field.metadata.get("shown", True):
            continue
        where = value.where(field.name) if isinstance(value, Traced) else None
        new = replace_secrets(old, change, where)
        if new is not old:
            changed[field.name] = new
    return replace(value, **changed) if changed else value  # type: ignore[type-var]


def _is_same(left: object, right: object) -> bool:
    return left is right


def _user_key(value: object, field: str) -> str:
    origin = value.where(field) if isinstance(value, Traced) else None
    return origin.name if origin is not None else ""


def _join_path(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
