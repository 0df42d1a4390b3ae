"""Keys of the configuration files whose values are secrets, for the rules of SOPS."""

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
"""Last part of the path of every secret key, because SOPS matches names and not paths.

Listed explicitly, because deriving them from the language takes longer than rendering a repository.
"""


def secret_key_regex() -> str:
    """Return an `encrypted_regex` that matches exactly the secrets of the configuration."""
    return f"^({'|'.join(SECRET_KEYS)})$"
