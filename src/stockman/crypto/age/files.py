"""Encrypting and decrypting age files, as streams that hold a few pieces of 64 KiB at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from stockman.crypto.age import problems
from stockman.crypto.age.armor import armored, is_armored, unarmored
from stockman.crypto.age.header import (
    FILE_KEY_BYTES,
    Header,
    is_signed,
    read_header,
    signed_header,
)
from stockman.crypto.age.identities import Identity
from stockman.crypto.age.payload import NONCE_BYTES, opened, sealed
from stockman.crypto.age.recipients import Recipient
from stockman.crypto.age.source import Source


def encrypted(
    parts: Iterable[bytes],
    recipients: Sequence[Recipient],
    random_bytes: Callable[[int], bytes],
    *,
    armor: bool = False,
) -> Iterator[bytes]:
    """An age file that each of the recipients can open, in pieces."""
    if len({one.is_post_quantum for one in recipients}) > 1:
        raise problems.mixed_recipients("")
    if not recipients:
        raise ValueError("a file needs a recipient")
    file_key = random_bytes(FILE_KEY_BYTES)
    stanzas = tuple(one.wrap(file_key, random_bytes) for one in recipients)
    header = bytes(signed_header(stanzas, file_key))
    nonce = random_bytes(NONCE_BYTES)

    def binary() -> Iterator[bytes]:
        yield header + nonce
        yield from sealed(Source(parts), file_key, nonce)

    return armored(binary()) if armor else binary()


def decrypted(
    parts: Iterable[bytes], identities: Sequence[Identity], where: str = ""
) -> Iterator[bytes]:
    """The plaintext of an age file, armored or not, in pieces.

    The header is read before this returns. Each piece is authentic; that nothing is missing is
    known only at the end, where `age.truncated` is raised if something is.
    """
    source = Source(parts)
    if is_armored(source):
        source = Source(unarmored(source, where))
    header = read_header(source, where)
    file_key = _file_key(header, identities, where)
    nonce = bytes(source.take(NONCE_BYTES))
    if len(nonce) < NONCE_BYTES:
        raise problems.truncated(where, "nothing follows its header")
    return opened(source, file_key, nonce, where)


def encrypt(
    content: bytes,
    recipients: Sequence[Recipient],
    random_bytes: Callable[[int], bytes],
    *,
    armor: bool = False,
) -> bytes:
    """A small age file, at once."""
    return b"".join(encrypted([content], recipients, random_bytes, armor=armor))


def decrypt(content: bytes, identities: Sequence[Identity], where: str = "") -> bytes:
    """The plaintext of a small age file, at once and only if it is whole."""
    return b"".join(decrypted([content], identities, where))


def _file_key(header: Header, identities: Sequence[Identity], where: str) -> bytes:
    for identity in identities:
        for stanza in header.stanzas:
            file_key = identity.unwrap(stanza, where)
            if file_key is None:
                continue
            if not is_signed(header, file_key):
                raise problems.bad_header_mac(where)
            return file_key
    kinds = sorted({stanza.kind for stanza in header.stanzas})
    raise problems.no_identity_fits(where, kinds, len(identities))
