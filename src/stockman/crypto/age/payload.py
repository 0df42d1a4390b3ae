"""The payload of an age file: pieces of 64 KiB, each sealed with its number.

A piece that is missing, moved, repeated or changed does not open, and only the last one opens as
the last one.
"""

from __future__ import annotations

from collections.abc import Iterator

from cryptography.exceptions import InvalidTag

from stockman.crypto.age import problems
from stockman.crypto.age.source import Source
from stockman.crypto.hkdf import derived_key
from stockman.crypto.primitives import ChaCha20Poly1305

CHUNK = 64 * 1024
NONCE_BYTES = 16

_TAG = 16
_SEALED = CHUNK + _TAG


def sealed(source: Source, file_key: bytes, nonce: bytes) -> Iterator[bytes]:
    """The payload of a plaintext, without the nonce in front."""
    cipher = _cipher(file_key, nonce)
    number = 0
    while True:
        chunk = source.take(CHUNK)
        last = len(chunk) < CHUNK or source.at_end
        yield cipher.encrypt(_counter(number, last=last), chunk, None)
        if last:
            return
        number += 1


def opened(source: Source, file_key: bytes, nonce: bytes, where: str) -> Iterator[bytes]:
    """The plaintext of a payload; what was given out before an error is authentic, but not all."""
    cipher = _cipher(file_key, nonce)
    number = 0
    while True:
        chunk = source.take(_SEALED)
        last = len(chunk) < _SEALED or source.at_end
        if len(chunk) < _TAG or (number and len(chunk) == _TAG):
            raise problems.truncated(where, f"the end comes inside of piece {number + 1}")
        try:
            plain = cipher.decrypt(_counter(number, last=last), chunk, None)
        except InvalidTag:
            raise _broken(cipher, number, bytes(chunk), where, last=last) from None
        yield plain
        if last:
            return
        number += 1


def _broken(
    cipher: ChaCha20Poly1305, number: int, chunk: bytes, where: str, *, last: bool
) -> Exception:
    try:
        cipher.decrypt(_counter(number, last=not last), chunk, None)
    except InvalidTag:
        if last and len(chunk) < _SEALED:
            return problems.bad_payload(where, f"piece {number + 1} was changed or cut off")
        return problems.bad_payload(where, f"piece {number + 1} was changed or moved")
    if last:
        return problems.truncated(where, f"pieces are missing behind number {number + 1}")
    return problems.bad_payload(where, "there is something behind its last piece")


def _cipher(file_key: bytes, nonce: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(derived_key(file_key, nonce, b"payload"))


def _counter(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\1" if last else b"\0")
