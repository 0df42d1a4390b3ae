"""Keys that backups are encrypted with before they leave for a backup server."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die

AUTOGEN = "autogen"


def new_key(cluster: Cluster) -> str:
    """A key as `proxmox-backup-client key create --kdf none` writes it."""
    secret = cluster.around.dice.random_bytes(32)
    mark = hashlib.sha256(secret).digest()
    moment = datetime.fromtimestamp(cluster.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(
        {
            "kdf": None,
            "created": moment,
            "modified": moment,
            "data": base64.b64encode(secret).decode(),
            "fingerprint": ":".join(f"{byte:02x}" for byte in mark),
        },
        separators=(",", ":"),
    )


def fingerprint_of(key: str) -> str:
    """What the configuration keeps of a key."""
    try:
        decoded = json.loads(key)
    except ValueError:
        decoded = None
    if not isinstance(decoded, dict) or "data" not in decoded:
        raise die("Value does not seems like a valid, JSON formatted encryption key!")
    return str(decoded.get("fingerprint") or "1")
