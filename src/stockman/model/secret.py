"""Confidential values: typed, opaque, printed as `***` in every form."""

from __future__ import annotations

import re
from enum import Enum
from typing import NoReturn

MASK = "***"
_ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ENCRYPTED = re.compile(r"ENC\[[A-Z0-9_]+,.*\]", re.DOTALL)


class SecretForm(Enum):
    """How a secret is given in a file."""

    ENCRYPTED = "encrypted"
    ENVIRONMENT = "environment"
    FILE = "file"
    SOPS = "sops"
    LITERAL = "literal"


class Secret:
    """A confidential value or a reference to one.

    `repr`, `str`, `format`, JSON and exceptions show `***`; pickling is refused. `reveal()` is
    the only way to the text it was made of. With `resolved`, the text is the secret itself, even
    where it looks like a reference.
    """

    __slots__ = ("_resolved", "_text")

    def __init__(self, text: str, *, resolved: bool = False) -> None:
        self._text = text
        self._resolved = resolved

    def reveal(self) -> str:
        """The text this secret was made of: the reference, or the literal."""
        return self._text

    @property
    def form(self) -> SecretForm:
        return SecretForm.LITERAL if self._resolved else secret_form(self._text)

    @property
    def reference(self) -> str:
        """What may be shown of it: the name of the variable or file, never a value."""
        if self.form in (SecretForm.ENVIRONMENT, SecretForm.FILE, SecretForm.SOPS):
            return self._text
        return "ENC[...]" if self.form is SecretForm.ENCRYPTED else MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

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
    """Whether a text is a value that SOPS encrypted."""
    return _ENCRYPTED.fullmatch(text) is not None


def secret_form(text: str) -> SecretForm:
    """How a secret is written: as reference, encrypted, or in the clear."""
    if is_encrypted(text):
        return SecretForm.ENCRYPTED
    if _ENVIRONMENT.fullmatch(text):
        return SecretForm.ENVIRONMENT
    if text.startswith("file:") and len(text) > len("file:"):
        return SecretForm.FILE
    if text.startswith("sops:") and "#" in text[5:]:
        return SecretForm.SOPS
    return SecretForm.LITERAL
