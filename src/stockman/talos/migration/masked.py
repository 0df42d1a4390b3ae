"""What may be shown of a configuration: everything but the values that are confidential."""

from __future__ import annotations

from dataclasses import replace

from stockman.model.secret import MASK
from stockman.talos.migration.edit import Edit

_CONFIDENTIAL = frozenset(
    {
        "aescbcEncryptionSecret",
        "apiToken",
        "apiUrl",
        "auth",
        "clusterSecret",
        "content",
        "contents",
        "identityToken",
        "key",
        "manifest",
        "passphrase",
        "password",
        "presharedKey",
        "privateKey",
        "secret",
        "secretboxEncryptionSecret",
        "token",
        "uniqueToken",
    }
)
"""Fields whose text is a secret, or may hold one."""
_ALL_BELOW = frozenset({"env", "environment", "extraManifestHeaders", "headers", "variables"})
"""Fields of which every value may be a secret."""


def masked(edit: Edit) -> Edit:
    """The edit as it may be shown."""
    last = edit.path.rpartition(".")[2]
    return replace(edit, before=_shown(edit.before, last), after=_shown(edit.after, last))


def masked_value(value: object) -> object:
    """A document or a part of one as it may be shown."""
    return _shown(value, "")


def _shown(value: object, key: str, *, hidden: bool = False) -> object:
    hidden = hidden or key in _ALL_BELOW
    if isinstance(value, dict):
        return {name: _shown(item, name, hidden=hidden) for name, item in value.items()}
    if isinstance(value, list):
        return [_shown(item, key, hidden=hidden) for item in value]
    if value in (None, "") or isinstance(value, bool):
        return value
    return MASK if hidden or key in _CONFIDENTIAL else value
