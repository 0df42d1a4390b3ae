"""Encrypt and decrypt age files as streams, holding a few chunks of 64 KiB at a time."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence

from stockman.crypto import primitives
from stockman.crypto.age import problems
from stockman.crypto.age.header import (
    BYTES_PER_LINE,
    COLUMNS,
    FILE_KEY_BYTES,
    ByteStream,
    Header,
    build_header,
    has_valid_mac,
    read_header,
)
from stockman.crypto.age.identities import AgeIdentity, Recipient
from stockman.crypto.hkdf import derive_key

BEGIN = b"-----BEGIN AGE ENCRYPTED FILE-----"
END = b"-----END AGE ENCRYPTED FILE-----"

_ARMOR_BLOCK = BYTES_PER_LINE * 1024
_MAX_WHITESPACE = 1024


def encode_armor(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Encode a binary age file as armored text."""
    yield BEGIN + b"\n"
    source = ByteStream(chunks)
    while block := source.read(_ARMOR_BLOCK):
        text = base64.b64encode(block)
        yield b"".join(
            text[start : start + COLUMNS] + b"\n" for start in range(0, len(text), COLUMNS)
        )
    yield END + b"\n"


def is_armored(source: ByteStream) -> bool:
    """Return whether the stream starts with armor, after optional blank lines."""
    return source.peek(_MAX_WHITESPACE).lstrip().startswith(BEGIN[:10])


def decode_armor(source: ByteStream, where: str) -> Iterator[bytes]:
    """Decode an armored age file."""
    lines = _ArmorLines(source, where)
    lines.skip_space()
    if lines.next() != BEGIN:
        raise problems.bad_armor(where, "its first line is not the BEGIN line of age")
    ended = False
    while (line := lines.next()) != END:
        if ended:
            raise problems.bad_armor(where, "a line follows one that is shorter than 64 columns")
        data = _decode_line(line, where)
        ended = len(data) < BYTES_PER_LINE
        yield data
    lines.expect_end()


def _decode_line(line: bytes, where: str) -> bytes:
    if not line:
        raise problems.bad_armor(where, "an empty line stands in it")
    if len(line) > COLUMNS:
        raise problems.bad_armor(where, f"a line is longer than {COLUMNS} columns")
    try:
        data = base64.b64decode(line, validate=True)
    except binascii.Error:
        raise problems.bad_armor(where, "a line is not base64") from None
    if base64.b64encode(data) != line:
        raise problems.bad_armor(where, "a line is not the base64 of anything")
    return data


class _ArmorLines:
    def __init__(self, source: ByteStream, where: str) -> None:
        self._source = source
        self._where = where

    def next(self) -> bytes:
        line = self._source.read_line(COLUMNS * 2)
        if not line:
            raise problems.unexpected_end(self._where, "its END line is missing")
        return line.removesuffix(b"\n").removesuffix(b"\r")

    def skip_space(self) -> None:
        head = self._source.peek(_MAX_WHITESPACE)
        self._source.read(len(head) - len(head.lstrip()))

    def expect_end(self) -> None:
        remaining = bytes(self._source.read(_MAX_WHITESPACE))
        if remaining.strip() or len(remaining) == _MAX_WHITESPACE:
            raise problems.bad_armor(self._where, "something follows its END line")


CHUNK_BYTES = 64 * 1024
NONCE_BYTES = 16

_TAG_BYTES = 16
_ENCRYPTED_CHUNK = CHUNK_BYTES + _TAG_BYTES


def encrypt_payload(source: ByteStream, file_key: bytes, nonce: bytes) -> Iterator[bytes]:
    """Encrypt a plaintext into payload chunks, without the leading nonce."""
    cipher = _payload_cipher(file_key, nonce)
    number = 0
    while True:
        chunk = source.read(CHUNK_BYTES)
        last = len(chunk) < CHUNK_BYTES or source.at_end
        yield cipher.encrypt(_chunk_nonce(number, last=last), chunk, None)
        if last:
            return
        number += 1


def decrypt_payload(
    source: ByteStream, file_key: bytes, nonce: bytes, where: str
) -> Iterator[bytes]:
    """Decrypt payload chunks. Chunks returned before an error are authentic, but incomplete."""
    cipher = _payload_cipher(file_key, nonce)
    number = 0
    while True:
        chunk = source.read(_ENCRYPTED_CHUNK)
        last = len(chunk) < _ENCRYPTED_CHUNK or source.at_end
        if len(chunk) < _TAG_BYTES or (number and len(chunk) == _TAG_BYTES):
            raise problems.unexpected_end(where, f"the end comes inside of piece {number + 1}")
        try:
            plain = cipher.decrypt(_chunk_nonce(number, last=last), chunk, None)
        except primitives.InvalidTag:
            raise _payload_error(cipher, number, bytes(chunk), where, last=last) from None
        yield plain
        if last:
            return
        number += 1


def _payload_error(
    cipher: primitives.ChaCha20Poly1305, number: int, chunk: bytes, where: str, *, last: bool
) -> Exception:
    try:
        cipher.decrypt(_chunk_nonce(number, last=not last), chunk, None)
    except primitives.InvalidTag:
        if last and len(chunk) < _ENCRYPTED_CHUNK:
            return problems.bad_payload(where, f"piece {number + 1} was changed or cut off")
        return problems.bad_payload(where, f"piece {number + 1} was changed or moved")
    if last:
        return problems.unexpected_end(where, f"pieces are missing behind number {number + 1}")
    return problems.bad_payload(where, "there is something behind its last piece")


def _payload_cipher(file_key: bytes, nonce: bytes) -> primitives.ChaCha20Poly1305:
    return primitives.ChaCha20Poly1305(derive_key(file_key, nonce, b"payload"))


def _chunk_nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\1" if last else b"\0")


def encrypt_stream(
    chunks: Iterable[bytes],
    recipients: Sequence[Recipient],
    random_bytes: Callable[[int], bytes],
    *,
    armor: bool = False,
) -> Iterator[bytes]:
    """Encrypt a file for all recipients, in chunks."""
    if len({recipient.is_post_quantum for recipient in recipients}) > 1:
        raise problems.incompatible_recipients("")
    if not recipients:
        raise ValueError("a file needs a recipient")
    file_key = random_bytes(FILE_KEY_BYTES)
    stanzas = tuple(recipient.wrap(file_key, random_bytes) for recipient in recipients)
    header = bytes(build_header(stanzas, file_key))
    nonce = random_bytes(NONCE_BYTES)

    def binary() -> Iterator[bytes]:
        yield header + nonce
        yield from encrypt_payload(ByteStream(chunks), file_key, nonce)

    return encode_armor(binary()) if armor else binary()


def decrypt_stream(
    chunks: Iterable[bytes], identities: Sequence[AgeIdentity], where: str = ""
) -> Iterator[bytes]:
    """Decrypt an age file, armored or not, in chunks.

    The header is read before this returns. Each chunk is authentic; a missing end is only detected
    at the end, where `age.truncated` is raised.
    """
    source = ByteStream(chunks)
    if is_armored(source):
        source = ByteStream(decode_armor(source, where))
    header = read_header(source, where)
    file_key = _find_file_key(header, identities, where)
    nonce = bytes(source.read(NONCE_BYTES))
    if len(nonce) < NONCE_BYTES:
        raise problems.unexpected_end(where, "nothing follows its header")
    return decrypt_payload(source, file_key, nonce, where)


def encrypt(
    content: bytes,
    recipients: Sequence[Recipient],
    random_bytes: Callable[[int], bytes],
    *,
    armor: bool = False,
) -> bytes:
    """Encrypt a small file at once."""
    return b"".join(encrypt_stream([content], recipients, random_bytes, armor=armor))


def decrypt(content: bytes, identities: Sequence[AgeIdentity], where: str = "") -> bytes:
    """Decrypt a small file at once, if it is complete."""
    return b"".join(decrypt_stream([content], identities, where))


def _find_file_key(header: Header, identities: Sequence[AgeIdentity], where: str) -> bytes:
    for identity in identities:
        for stanza in header.stanzas:
            file_key = identity.unwrap(stanza, where)
            if file_key is None:
                continue
            if not has_valid_mac(header, file_key):
                raise problems.bad_header_mac(where)
            return file_key
    kinds = sorted({stanza.kind for stanza in header.stanzas})
    raise problems.no_matching_identity(where, kinds, len(identities))
