"""What files beside the configuration said, taken from the secrets that were rendered from them.

Git does not hold those files. Whoever clones a repository and has its age key goes on with the same
values: otherwise a webhook would go away, and a new deploy key be made that no server knows.
"""

from __future__ import annotations

from pathlib import Path

from stockman.app.keyring import Keyring
from stockman.app.secret_reading import read_secret_file, revealed
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.secret import Secret
from stockman.talos.documents import text_at

WEBHOOK = "kubernetes/apps/*/flux-instance/app/secret.sops.yaml"
DEPLOY_KEY = "bootstrap/*deploy-key.sops.yaml"
TUNNEL = "kubernetes/apps/*/cloudflare-tunnel/app/secret.sops.yaml"


def rendered_value(directory: Path, keyring: Keyring, pattern: str, key: str) -> Secret | None:
    """A value of a Secret that was rendered. None: it is not there, or nobody here can open it."""
    if not keyring.identities:
        return None
    for path in sorted(directory.glob(pattern)):
        name = path.relative_to(directory).as_posix()
        content = read_secret_file(directory, name)
        if content is None:
            continue
        tree = read_yaml(name, revealed(content, name, keyring).decode())
        found = text_at(tree, f"stringData.{key}")
        if found is not None and found.text:
            return Secret(found.text)
    return None
