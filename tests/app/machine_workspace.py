"""A directory with nodes, its age key and its secrets bundle, to make machine configurations in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from stockman.crypto.age import identities
from stockman.crypto.age.identities import parse_identities
from stockman.crypto.sops.files import EncryptionInputs, encrypt
from stockman.crypto.sops.selectors import EncryptionSettings
from stockman.talos.secrets.bundle import bundle_text
from tests.talos.machine.clusters import CLUSTER, KUBERNETES, NODES, TALOS, bundle

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BUNDLE = "talos/talsecret.sops.yaml"
TALOS_KEYS = "talos: {extensions: [siderolabs/qemu-guest-agent]}\n"


def random_bytes(count: int) -> bytes:
    return hashlib.shake_128(b"workspace").digest(count)


def write_files(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def sealed(directory: Path, name: str, text: str) -> None:
    """Write a file that only the key of the directory opens."""
    (identity,) = parse_identities((directory / "age.key").read_text())
    recipe = EncryptionSettings(recipients=(identity.recipient,))
    content = encrypt(
        text.encode(), name, recipe, EncryptionInputs(now=NOW, random_bytes=random_bytes)
    )
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def workspace(
    directory: Path,
    talos: str = TALOS_KEYS,
    files: Mapping[str, str] | None = None,
    *,
    line: str = "1.13",
    nodes: str = NODES,
) -> Path:
    """The directory with two nodes, cp-1 and work-1; `talos`: its section of `cluster.yaml`."""
    cluster = CLUSTER.format(talos=TALOS[line], line=line, kubernetes=KUBERNETES[line])
    write_files(directory, {"cluster.yaml": cluster + talos, "nodes.yaml": nodes})
    write_files(directory, files or {})
    identity = identities.age_key_pair(random_bytes(identities.IDENTITY_BYTES), post_quantum=False)
    key = directory / "age.key"
    key.write_text(identities.render_age_key_file(identity, NOW).reveal())
    key.chmod(0o600)
    add_bundle(directory)
    return directory


def add_bundle(directory: Path) -> None:
    """Give the directory a secrets bundle, unless it has one."""
    if not (directory / BUNDLE).exists():
        sealed(directory, BUNDLE, bundle_text(bundle()).reveal())


if __name__ == "__main__":
    add_bundle(Path())
