"""Keys of the SSH door: one of each host, and one of who uses the lab.

All are Ed25519, follow from the seed of the world, and are kept with it as OpenSSH writes
them.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from stockman_lab.core.dice import Dice
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.host import Host

CLIENT = "client"
AUTHORIZED = "authorized_keys"
_KIND = b"ssh-ed25519"
_MAGIC = b"openssh-key-v1\0"
_BLOCK = 8
_WIDTH = 70


@dataclass(frozen=True, slots=True)
class Key:
    """A private key and what others may know of it."""

    private: str
    public: str


def host_key(state: ClusterState, host: Host, seed: int) -> Key:
    """The key that a host shows; made when it is first asked for.

    It depends on seed and address alone: clients remember which key they saw where, and refuse
    to talk to another lab at the same address if it has another key.
    """
    own = hashlib.sha256(f"{seed}:{host.address}".encode()).digest()
    dice = Dice(int.from_bytes(own[:8], "big"))
    return _key(state, host.name, f"root@{host.name}", dice.random_bytes)


def client_key(state: ClusterState, random_bytes: Callable[[int], bytes]) -> Key:
    """The key that opens all hosts of a cluster; made when it is first asked for."""
    key = _key(state, CLIENT, f"lab@{state.name}", random_bytes)
    authorize(state, key)
    return key


def authorize(state: ClusterState, key: Key) -> None:
    """Let who has a key log in to all hosts of a cluster."""
    listed = state.ssh.get(AUTHORIZED, "")
    if key.public not in listed.splitlines():
        state.ssh[AUTHORIZED] = f"{listed}{key.public}\n"


def authorized_keys(state: ClusterState) -> set[str]:
    """Public keys that may log in, without their comments."""
    lines = (line.split() for line in state.ssh.get(AUTHORIZED, "").splitlines())
    return {" ".join(line[:2]) for line in lines if len(line) > 1 and line[0][:1] != "#"}


def _key(state: ClusterState, name: str, comment: str, random_bytes: Callable[[int], bytes]) -> Key:
    if f"{name}.key" not in state.ssh:
        made = _made(random_bytes(32), random_bytes(4), comment)
        state.ssh |= {f"{name}.key": made.private, f"{name}.pub": made.public}
    return Key(state.ssh[f"{name}.key"], state.ssh[f"{name}.pub"])


def _made(seed: bytes, check: bytes, comment: str) -> Key:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    point = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    public = _field(_KIND) + _field(point)
    secret = check * 2 + public + _field(seed + point) + _field(comment.encode())
    secret += bytes(range(1, -len(secret) % _BLOCK + 1))
    none = _field(b"none")
    content = _MAGIC + none + none + _field(b"") + (1).to_bytes(4, "big")
    text = base64.b64encode(content + _field(public) + _field(secret)).decode()
    lines = [text[start : start + _WIDTH] for start in range(0, len(text), _WIDTH)]
    mark = "OPENSSH PRIVATE KEY-----"
    private = "\n".join([f"-----BEGIN {mark}", *lines, f"-----END {mark}", ""])
    return Key(private, f"{_KIND.decode()} {base64.b64encode(public).decode()} {comment}")


def _field(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content
