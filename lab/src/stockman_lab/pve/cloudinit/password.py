"""Passwords as Proxmox VE keeps them: `crypt` with SHA-256, unless they are hashed already."""

from __future__ import annotations

import base64
import hashlib
import re

_HASHED = re.compile(r"\$(?:[156]|2[ay])(\$.+){2}")
_ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ROUNDS = 5000
_MOST_SALT = 16
_ORDER = (
    (0, 10, 20),
    (21, 1, 11),
    (12, 22, 2),
    (3, 13, 23),
    (24, 4, 14),
    (15, 25, 5),
    (6, 16, 26),
    (27, 7, 17),
    (18, 28, 8),
    (9, 19, 29),
)


def kept_password(given: str, seed: str) -> str:
    """What is written into the configuration."""
    return given if _HASHED.match(given) else sha256_crypt(given, seed)


def salt(random: bytes) -> str:
    """Eight letters, as Proxmox VE makes them."""
    letters = base64.b64encode(hashlib.sha1(random, usedforsecurity=False).digest()).decode()
    return letters[:8].replace("+", "X")


def sha256_crypt(password: str, seed: str) -> str:
    """`$5$SALT$HASH`."""
    key, salted = password.encode(), seed.encode()[:_MOST_SALT]
    mixed = _sha(key + salted + key)
    digest = _sha(key + salted + _stretch(mixed, len(key)) + _pick(len(key), mixed, key))
    keys = _stretch(_sha(key * len(key)), len(key))
    seeds = _stretch(_sha(salted * (16 + digest[0])), len(salted))
    for turn in range(_ROUNDS):
        digest = _sha(
            (keys if turn % 2 else digest)
            + (seeds if turn % 3 else b"")
            + (keys if turn % 7 else b"")
            + (digest if turn % 2 else keys)
        )
    return f"$5${salted.decode()}${_text(digest)}"


def _pick(length: int, mixed: bytes, key: bytes) -> bytes:
    found = b""
    while length:
        found += mixed if length & 1 else key
        length >>= 1
    return found


def _stretch(block: bytes, length: int) -> bytes:
    return (block * (length // len(block) + 1))[:length]


def _text(digest: bytes) -> str:
    words = [digest[a] << 16 | digest[b] << 8 | digest[c] for a, b, c in _ORDER]
    found = "".join(_letters(word, 4) for word in words)
    return found + _letters(digest[31] << 8 | digest[30], 3)


def _letters(word: int, count: int) -> str:
    return "".join(_ALPHABET[word >> 6 * place & 63] for place in range(count))


def _sha(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
