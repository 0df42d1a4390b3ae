"""Names and generation of the secret files of a new directory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from stockman.config.language import Dialect
from stockman.crypto.age import identities
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.ports.system import Clock, Entropy

AGE_KEY = "age.key"
_TOKEN_BYTES = 16
_COMMENT = "deploy-key"


class SecretNames(NamedTuple):
    """Paths of the secret files in a dialect."""

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
    """Generate the age identity of a dialect: like `age-keygen`, or `age-keygen -pq`."""

    def made(clock: Clock, entropy: Entropy) -> Secret:
        raw = entropy.random_bytes(identities.IDENTITY_BYTES)
        identity = identities.age_key_pair(raw, post_quantum=dialect == "toml")
        return identities.render_age_key_file(identity, clock.now())

    return made


def generate_deploy_key(clock: Clock, entropy: Entropy) -> Secret:
    """Generate an SSH key for the repository, like `ssh-keygen`."""
    del clock
    from stockman.crypto import private_keys

    raw = entropy.random_bytes(private_keys.SSH_SEED_BYTES)
    check = entropy.random_bytes(private_keys.CHECK_BYTES)
    return private_keys.ssh_private_key(raw, check, _COMMENT)


def deploy_key_public(private: Secret) -> str | None:
    """Return the public part of a deploy key. None: it is not an OpenSSH Ed25519 key."""
    from stockman.crypto import private_keys

    return private_keys.ssh_public_key(private, _COMMENT)


def generate_token(clock: Clock, entropy: Entropy) -> Secret:
    """Generate a webhook token."""
    del clock
    return Secret(f"{entropy.random_bytes(_TOKEN_BYTES).hex()}\n")
