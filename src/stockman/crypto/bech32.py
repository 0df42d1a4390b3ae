"""Bech32, the text format of age keys: five bits per character and a checksum of six characters."""

from __future__ import annotations

from collections.abc import Iterable

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_LENGTH = 6


def encode_bech32(prefix: str, data: bytes) -> str:
    """Encode data in lower case with a prefix, without the length limit of Bech32."""
    values, remainder = _regroup(data, 8, 5)
    if len(data) % 5:
        values.append(remainder)
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
    quintets = values[:-_CHECKSUM_LENGTH]
    octets, padding = _regroup(quintets, 5, 8)
    if padding or len(quintets) * 5 % 8 >= 5:
        raise ValueError("bits behind its end")
    return prefix, bytes(octets)


def _regroup(values: Iterable[int], old: int, new: int) -> tuple[list[int], int]:
    """Split groups of `old` bits into groups of `new` bits; return them and the remaining bits.

    The remaining bits are shifted to the front of a group.
    """
    pending = held = 0
    groups: list[int] = []
    for value in values:
        pending = (pending << old | value) & 0xFFF
        held += old
        while held >= new:
            held -= new
            groups.append(pending >> held & (1 << new) - 1)
    return groups, pending << (new - held) & (1 << new) - 1 if held else 0


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
