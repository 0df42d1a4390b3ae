"""The secret files of a new directory: which there are, and how each is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stockman.config.presets import Dialect
from stockman.crypto.age import identities
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.ports.system import Clock, Entropy

AGE_KEY = "age.key"
_TOKEN_BYTES = 16
_COMMENT = "deploy-key"


class SecretNames(NamedTuple):
    """Where a dialect's users expect their secret files."""

    age_key: str
    deploy_key: str
    token: str

    @property
    def public_key(self) -> str:
        return f"{self.deploy_key}.pub"


SECRET_NAMES: dict[Dialect, SecretNames] = {
    "classic": SecretNames(AGE_KEY, "github-deploy.key", "github-push-token.txt"),
    "toml": SecretNames(AGE_KEY, "deploy.key", "flux-webhook-token.txt"),
}

Maker: TypeAlias = "Callable[[Clock, Entropy], Secret]"


def generate_age_key(dialect: Dialect) -> Maker:
    """How a dialect's users make their age identity: `age-keygen`, or `age-keygen -pq`."""

    def made(clock: Clock, entropy: Entropy) -> Secret:
        raw = entropy.random_bytes(identities.IDENTITY_BYTES)
        identity = identities.age_key_pair(raw, post_quantum=dialect == "toml")
        return identities.render_age_key_file(identity, clock.now())

    return made


def generate_deploy_key(clock: Clock, entropy: Entropy) -> Secret:
    """A new SSH key for the repository, as `ssh-keygen` would write it."""
    del clock
    from stockman.crypto import ssh_keys

    raw = entropy.random_bytes(ssh_keys.SSH_SEED_BYTES)
    check = entropy.random_bytes(ssh_keys.CHECK_BYTES)
    return ssh_keys.ssh_private_key(raw, check, _COMMENT)


def deploy_key_public(private: Secret) -> str | None:
    """The public half of a deploy key; None where the file is no Ed25519 key of OpenSSH."""
    from stockman.crypto import ssh_keys

    return ssh_keys.ssh_public_key(private, _COMMENT)


def generate_token(clock: Clock, entropy: Entropy) -> Secret:
    """A new webhook token."""
    del clock
    return Secret(f"{entropy.random_bytes(_TOKEN_BYTES).hex()}\n")
