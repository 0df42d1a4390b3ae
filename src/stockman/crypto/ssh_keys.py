"""Ed25519 keys in the file formats of OpenSSH, without a passphrase."""

from __future__ import annotations

import base64
import binascii
import struct
import textwrap

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from stockman.model.secret import Secret

SSH_SEED_BYTES = 32
"""Number of random bytes for a key."""
CHECK_BYTES = 4
"""Number of additional random bytes, which a private key file contains twice to detect a wrong
passphrase."""

_KIND = b"ssh-ed25519"
_MAGIC = b"openssh-key-v1\0"
_BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----"
_END = "-----END OPENSSH PRIVATE KEY-----"
_BLOCK_BYTES = 8
_LINE_LENGTH = 70


def ssh_private_key(raw: bytes, check: bytes, comment: str) -> Secret:
    """Return the text of a private key file; `raw` is the seed, `check` are four more random
    bytes."""
    public = Ed25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()
    blob = _string(_KIND) + _string(public)
    secret = check + check + blob + _string(raw + public) + _string(comment.encode())
    padded = secret + bytes(range(1, 1 + -len(secret) % _BLOCK_BYTES))
    body = (
        _MAGIC
        + _string(b"none")  # cipher
        + _string(b"none")  # key derivation
        + _string(b"")  # and its options
        + struct.pack(">I", 1)  # number of keys
        + _string(blob)
        + _string(padded)
    )
    lines = textwrap.wrap(base64.b64encode(body).decode("ascii"), _LINE_LENGTH)
    return Secret("\n".join([_BEGIN, *lines, _END, ""]))


def ssh_public_key(private: Secret, comment: str) -> str | None:
    """Return the text of the `.pub` file of a private key file; None: not an Ed25519 key.

    OpenSSH stores the public key unencrypted, so this works for keys with a passphrase too.
    """
    text = "".join(private.reveal().split("\n"))
    if not (text.startswith(_BEGIN) and text.endswith(_END)):
        return None
    try:
        body = base64.b64decode(text.removeprefix(_BEGIN).removesuffix(_END), validate=True)
        blob = _public_blob(body)
    except (binascii.Error, struct.error):
        return None
    return _public_line(blob, comment) if blob.startswith(_string(_KIND)) else None


def _public_blob(body: bytes) -> bytes:
    if not body.startswith(_MAGIC):
        return b""
    remaining = body.removeprefix(_MAGIC)
    for _ in ("cipher", "key derivation", "its options"):
        _, remaining = _split_string(remaining)
    (count,) = struct.unpack(">I", remaining[:4])
    blob, _ = _split_string(remaining[4:])
    return blob if count == 1 else b""


def _split_string(data: bytes) -> tuple[bytes, bytes]:
    (length,) = struct.unpack(">I", data[:4])
    return data[4 : 4 + length], data[4 + length :]


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _public_line(blob: bytes, comment: str) -> str:
    return f"{_KIND.decode()} {base64.b64encode(blob).decode('ascii')} {comment}\n"
