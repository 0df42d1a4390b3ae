"""Mask unencrypted secrets in lines of configuration files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from stockman.model.pattern import pattern
from stockman.model.secret import MASK, Secret, SecretForm, secret_form

_SECRET_ASSIGNMENT = pattern(
    r"""(?P<key>["']?(?<![\w.-])(?:
            [\w.-]*(?:token|secret|passw|passphrase|access_key|private|preshared|credential)[\w.-]*
            |key(?=["']?\s*[:=]\s*[^\s\[{]))["']?\s*[:=]\s*)
        (?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|\$\{\w+\}|ENC\[[^\]]*\]|[^\s,}\]][^,}\]#]*)""",
    re.IGNORECASE | re.VERBOSE,
)
_PUBLIC = pattern(r"token_?id|secretstore|secret_?name|secretboot|secureboot", re.IGNORECASE)
_SHORTEST = 4
"""Shorter secrets are only masked next to their key: they could be part of any word."""


def build_redactor(secrets: Iterable[Secret]) -> Callable[[str], str]:
    """Return a function that masks secrets in a line: known values, and values of keys with secret
    names."""
    pieces = {
        piece.strip()
        for secret in secrets
        if secret.form is SecretForm.LITERAL
        for piece in secret.reveal().splitlines()
    }
    known = sorted((piece for piece in pieces if len(piece) >= _SHORTEST), key=len, reverse=True)

    def redact(line: str) -> str:
        for piece in known:
            line = line.replace(piece, MASK)
        return _SECRET_ASSIGNMENT.sub(_mask, line)

    return redact


def _mask(match: re.Match[str]) -> str:
    value = match["value"].strip()
    bare = value[1:-1] if value[:1] in "\"'" and len(value) > 1 else value
    if _PUBLIC.search(match["key"]) or secret_form(bare) is not SecretForm.LITERAL:
        return match[0]
    return f"{match['key']}{MASK}"
