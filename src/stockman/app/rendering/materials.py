"""Keys and tokens that rendering needs besides the configuration.

Git does not store these files. In a clone with the age key, their values come from the rendered
Secrets; otherwise the webhook would break and a new deploy key would be created.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

from stockman.app.secrets.generation import SECRET_NAMES
from stockman.app.secrets.keyring import AGE_KEY, Keyring
from stockman.app.secrets.reading import decrypt_file, read_secret_file
from stockman.app.secrets.store import find_rules
from stockman.catalog.component import InputFiles, Tunnel
from stockman.config.language import Dialect
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.age.identities import AgeIdentity
from stockman.model.desired import Desired
from stockman.model.errors import Rejected, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.documents import text_at

WEBHOOK_SECRET_FILES = "kubernetes/apps/*/flux-instance/app/secret.sops.yaml"
DEPLOY_KEY_FILES = "bootstrap/*deploy-key.sops.yaml"
TUNNEL_SECRET_FILES = "kubernetes/apps/*/cloudflare-tunnel/app/secret.sops.yaml"


def read_rendered_value(directory: Path, keyring: Keyring, pattern: str, key: str) -> Secret | None:
    """Return a value of a rendered Secret. None: it does not exist or cannot be opened."""
    if not keyring.identities:
        return None
    for path in sorted(directory.glob(pattern)):
        name = path.relative_to(directory).as_posix()
        content = read_secret_file(directory, name)
        if content is None:
            continue
        tree = read_yaml(name, decrypt_file(content, name, keyring).decode())
        value = text_at(tree, f"stringData.{key}")
        if value is not None and value.text:
            return Secret(value.text)
    return None


TUNNEL = "cloudflare-tunnel.json"
_LONGEST = 1 << 20


UNKNOWN = "stockman-unknown"
"""Placeholder for git-ignored files that cannot be expected to exist."""


@record
class MaterialSource:
    """Where materials are read from."""

    directory: Path
    dialect: Dialect
    keyring: Keyring
    environment: Mapping[str, str]

    @property
    def is_complete(self) -> bool:
        """Whether identities are available; without them, other files are missing too."""
        return bool(self.keyring.identities)


def read_materials(source: MaterialSource, desired: Desired) -> InputFiles:
    """Read the git-ignored files of a workspace, as far as they exist.

    Missing values come from rendered Secrets, as in a clone. Without any identity, as in CI, they
    are placeholders.
    """
    names, directory = SECRET_NAMES[source.dialect], source.directory
    identity = _identity(source.keyring)
    absent = None if source.is_complete else Secret(UNKNOWN)
    tunnel = _tunnel(directory) or _read_rendered_tunnel(source)
    if tunnel is None and absent is not None:
        tunnel = Tunnel(id=UNKNOWN, token=absent)
    return InputFiles(
        age_recipient=find_recipients(directory, source.environment)
        or (identity.recipient if identity is not None else ""),
        age_identity=identity.text if identity is not None else Secret(UNKNOWN),
        deploy_key=_text(directory / names.deploy_key)
        or read_rendered_value(directory, source.keyring, DEPLOY_KEY_FILES, "identity")
        or absent,
        webhook_token=_text(directory / names.token)
        or read_rendered_value(directory, source.keyring, WEBHOOK_SECRET_FILES, "token")
        or absent,
        tunnel=tunnel,
        proxmox_authorities=_authorities(directory, desired),
    )


def find_recipients(directory: Path, environment: Mapping[str, str]) -> str:
    """Return the recipients of existing files, to which people may have added some."""
    try:
        rule = find_rules(directory, environment).rule_for("talos/any.sops.yaml")
    except StockmanError:
        return ""
    return ",".join(rule.recipe.recipients)


def _authorities(directory: Path, desired: Desired) -> dict[str, str]:
    authorities = {}
    for cluster in desired.proxmox:
        name = cluster.tls.ca_file
        text = _text(directory / name) if name is not None else None
        if text is not None:
            authorities[str(cluster.region)] = text.reveal()
    return authorities


def _identity(keyring: Keyring) -> AgeIdentity | None:
    """Return the identity for the cluster: that of `age.key`, or the first available."""
    own = [source for source in keyring.sources if source.name == AGE_KEY]
    for source in (*own, *keyring.sources):
        for identity in source.identities:
            return identity
    return None


def _text(path: Path) -> Secret | None:
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST).decode().strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Rejected(_unusable_file(path.name, _reason(error))) from None
    if not text:
        raise Rejected(_unusable_file(path.name, "it is empty"))
    return Secret(f"{text}\n" if "\n" in text else text)


def _tunnel(directory: Path) -> Tunnel | None:
    text = _text(directory / TUNNEL)
    if text is None:
        return None
    try:
        content = json.loads(text.reveal())
        fields = {key: content[name] for key, name in _TUNNEL_KEYS.items()}
    except (ValueError, KeyError, TypeError):
        raise Rejected(
            _unusable_file(TUNNEL, f"it is not a JSON file with {', '.join(_TUNNEL_KEYS.values())}")
        ) from None
    token = base64.b64encode(json.dumps(fields, separators=(",", ":")).encode())
    return Tunnel(id=str(fields["t"]), token=Secret(token.decode()))


def _read_rendered_tunnel(source: MaterialSource) -> Tunnel | None:
    token = read_rendered_value(
        source.directory, source.keyring, TUNNEL_SECRET_FILES, "TUNNEL_TOKEN"
    )
    if token is None:
        return None
    try:
        return Tunnel(id=str(json.loads(base64.b64decode(token.reveal()))["t"]), token=token)
    except (ValueError, KeyError, TypeError):
        return None


_TUNNEL_KEYS = {"a": "AccountTag", "t": "TunnelID", "s": "TunnelSecret"}


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "it is no text"


def _unusable_file(name: str, why: str) -> Problem:
    return Problem(
        code="render.material",
        what=f"{name} cannot be used",
        where=name,
        why=why,
        fix=f"put the right content into {name}, or remove it",
    )
