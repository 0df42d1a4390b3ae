"""Keys and values of a property string, before anybody asks whether they may be what they are."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Protocol

_PAIR = re.compile(r"([^=]+)=(.+)$")
_TRUE = frozenset({"1", "on", "yes", "true"})
_FALSE = frozenset({"0", "off", "no", "false"})
_LIST = "in comma-separated list property"


class BadPairs(Exception):
    """A text that is no list of keys and values."""


class Key(Protocol):
    """What has to be known of a key to read its value."""

    @property
    def kind(self) -> str: ...

    @property
    def alias(self) -> str:
        """The key that is meant."""
        ...

    @property
    def kept_in(self) -> str:
        """The key whose value is the name of this one: `virtio=MAC` says `model=virtio`, too."""
        ...


def read_pairs(
    text: str,
    keys: Mapping[str, Key],
    bare: str,
    *,
    skip: Collection[str] = frozenset(),
    is_old: bool = False,
) -> dict[str, str]:
    """Values by key, aliases resolved, booleans as `1` and `0`; raises `BadPairs`.

    `bare` is the key of a value that stands alone. Before release 9 such a value was never taken
    for a boolean, and a key could be given again by an alias.
    """
    pieces: dict[str, str] = {}
    is_bare_seen = False
    for piece in text.split(","):
        if not piece.strip():
            continue
        if pair := _PAIR.match(piece):
            if pair[1] not in skip:
                _put(pieces, keys, pair, is_old=is_old)
        elif "=" in piece:
            raise BadPairs(f"missing key {_LIST}")
        elif not bare:
            raise BadPairs("value without key, but schema does not define a default key")
        elif is_bare_seen or pieces.get(bare, "0") not in ("", "0"):
            raise BadPairs(f"duplicate key {_LIST}: {bare}")
        else:
            is_bare_seen = True
            pieces[bare] = piece if is_old else _value(keys[bare], piece)
    return pieces


def _put(
    found: dict[str, str], keys: Mapping[str, Key], pair: re.Match[str], *, is_old: bool
) -> None:
    key, value = pair[1], pair[2]
    if key in found:
        raise BadPairs(f"duplicate key {_LIST}: {key}")
    known = keys.get(key)
    if known is not None and known.alias:
        if known.kept_in:
            if known.kept_in in found:
                raise BadPairs(f"key alias '{known.kept_in}' is already defined")
            found[known.kept_in] = key
        key = known.alias
        known = keys.get(key)
        if key in found and not is_old:
            raise BadPairs(f"key '{key}' is already defined (via alias)")
    found[key] = _value(known, value)


def _value(known: Key | None, text: str) -> str:
    if known is None or known.kind != "boolean":
        return text
    folded = text.removesuffix("\n").lower()
    return "1" if folded in _TRUE else "0" if folded in _FALSE else text
