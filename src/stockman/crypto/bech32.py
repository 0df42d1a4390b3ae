"""Bech32, the text format of age keys: five bits per character and a checksum of six characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_LENGTH = 6


def encode_bech32(prefix: str, data: bytes) -> str:
    """Encode data in lower case with a prefix, without the length limit of Bech32."""
    values = list(_to_quintets(data))
    return f"{prefix}1" + "".join(
        _ALPHABET[value] for value in [*values, *_checksum(prefix, values)]
    )


def decode_bech32(text: str) -> tuple[str, bytes]:
    """Return the prefix and data of a text; ValueError describes the error without the text."""
    if text.lower() != text and text.upper() != text:
        raise ValueError("letters in both cases")
    lower = text.lower()
    prefix, separator, body = lower.rpartition("1")
    if not separator or not prefix or len(body) < _CHECKSUM_LENGTH or not text.isascii():
        raise ValueError("no form of Bech32")
    values = [_ALPHABET.find(character) for character in body]
    if -1 in values:
        raise ValueError("a character that Bech32 does not have")
    if _polymod([*_expand_prefix(prefix), *values]) != 1:
        raise ValueError("a wrong check sum: a character was lost or mistyped")
    return prefix, _to_octets(values[:-_CHECKSUM_LENGTH])


def _to_octets(values: list[int]) -> bytes:
    """Convert groups of five bits to bytes; the padding of the last group must be zero."""
    pending = held = 0
    data = bytearray()
    for value in values:
        pending = (pending << 5 | value) & 0xFFF
        held += 5
        if held >= 8:
            held -= 8
            data.append(pending >> held & 255)
    if held >= 5 or pending & (1 << held) - 1:
        raise ValueError("bits behind its end")
    return bytes(data)


def _to_quintets(data: bytes) -> Iterator[int]:
    """Split data into groups of five bits, padding the last one with zeros."""
    pending = held = 0
    for octet in data:
        pending = (pending << 8 | octet) & 0xFFF
        held += 8
        while held >= 5:
            held -= 5
            yield pending >> held & 31
    if held:
        yield pending << (5 - held) & 31


def _checksum(prefix: str, values: list[int]) -> list[int]:
    remainder = _polymod([*_expand_prefix(prefix), *values, *[0] * _CHECKSUM_LENGTH]) ^ 1
    return [remainder >> 5 * index & 31 for index in reversed(range(_CHECKSUM_LENGTH))]


def _expand_prefix(prefix: str) -> list[int]:
    return [
        *(ord(character) >> 5 for character in prefix),
        0,
        *(ord(character) & 31 for character in prefix),
    ]


def _polymod(values: Iterable[int]) -> int:
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate(_GENERATOR):
            if top >> bit & 1:
                remainder ^= term
    return remainder
