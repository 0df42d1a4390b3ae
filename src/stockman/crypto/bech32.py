"""Bech32, the text form of age keys: five bits per character and a checksum of six."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_LENGTH = 6


def bech32(prefix: str, data: bytes) -> str:
    """Data as lower-case Bech32 behind a lower-case prefix. No length limit, as age has none."""
    values = list(_quintets(data))
    return f"{prefix}1" + "".join(
        _ALPHABET[value] for value in [*values, *_checksum(prefix, values)]
    )


def _quintets(data: bytes) -> Iterator[int]:
    """The bits of data in groups of five, the last one filled up with zeros."""
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
    expanded = [ord(character) >> 5 for character in prefix]
    expanded += [0, *(ord(character) & 31 for character in prefix)]
    remainder = _polymod([*expanded, *values, *[0] * _CHECKSUM_LENGTH]) ^ 1
    return [remainder >> 5 * place & 31 for place in reversed(range(_CHECKSUM_LENGTH))]


def _polymod(values: Iterable[int]) -> int:
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate(_GENERATOR):
            if top >> bit & 1:
                remainder ^= term
    return remainder
