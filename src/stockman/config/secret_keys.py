"""The keys of cluster.yaml and nodes.yaml whose values are secrets, as SOPS is told of them."""

from __future__ import annotations

SECRET_KEYS = (
    "access_key",
    "backup_s3_access_key",
    "backup_s3_secret_key",
    "client_key",
    "cloudflare_token",
    "key",
    "password",
    "proxmox_ccm_token_secret",
    "proxmox_token_secret",
    "secret_key",
    "secrets",
    "token",
    "token_secret",
)
"""The last word of every key that holds a secret: SOPS knows words, not paths.

Written out, because to read them off the language takes longer than to render a repository.
"""


def derive_secret_keys() -> tuple[str, ...]:
    """The same as the language says it."""
    from stockman.config.reference.keys import keys_by_path

    return tuple(sorted({key.name for key in keys_by_path().values() if key.secret}))


def secret_key_regex() -> str:
    """An `encrypted_regex` that encrypts exactly the secrets of the configuration."""
    return f"^({'|'.join(SECRET_KEYS)})$"
