"""The keys of cluster.yaml and nodes.yaml whose values are secrets, as SOPS is told of them."""

from __future__ import annotations

from stockman.config.keys import keys_by_path


def secret_key_names() -> tuple[str, ...]:
    """The last word of every key that holds a secret, sorted: SOPS knows words, not paths."""
    return tuple(sorted({key.name for key in keys_by_path().values() if key.secret}))


def secret_key_regex() -> str:
    """An `encrypted_regex` that encrypts exactly the secrets of the configuration."""
    return f"^({'|'.join(secret_key_names())})$"
