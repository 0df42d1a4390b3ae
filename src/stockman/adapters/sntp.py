"""The simple network time protocol: a question, and the offset that its answer shows."""

from __future__ import annotations

from struct import Struct

from stockman.ports.environment import NoAnswer

_PACKET = Struct("!BB2x12x8xQQQ")
"""Flags, stratum; (delays, identifier, reference time;) originate, receive and transmit times."""
_TICKS = 1 << 32
"""Ticks of a second."""
_EPOCH = 2_208_988_800
"""Seconds from 1900 to 1970."""
_CLIENT = 0b00_100_011
_SERVER = 4
_UNSYNCHRONISED = 3
_WORST_STRATUM = 15


def build_query(cookie: int) -> bytes:
    """The packet that asks for the time; its transmit time is a number only we know."""
    return _PACKET.pack(_CLIENT, 0, 0, 0, cookie)


def read_offset(answer: bytes, cookie: int, sent_ns: int, received_ns: int) -> float:
    """Seconds that the server is ahead of us, given when we asked and when it answered (Unix)."""
    if len(answer) < _PACKET.size:
        raise NoAnswer("its answer is too short for a time")
    flags, stratum, originate, receive, transmit = _PACKET.unpack_from(answer)
    if flags & 0b111 != _SERVER or originate != cookie:
        raise NoAnswer("its answer is not one to our question")
    if stratum == 0:
        raise NoAnswer("it refuses to tell us the time")
    if flags >> 6 == _UNSYNCHRONISED or stratum > _WORST_STRATUM or not transmit:
        raise NoAnswer("it does not know the time itself")
    there = _signed(receive - _ticks(sent_ns))
    back = _signed(transmit - _ticks(received_ns))
    return (there + back) / 2 / _TICKS


def _ticks(unix_ns: int) -> int:
    return unix_ns * _TICKS // 1_000_000_000 + _EPOCH * _TICKS


def _signed(ticks: int) -> int:
    """The difference nearest to zero: the count of seconds starts anew in 2036."""
    half = 1 << 63
    return (ticks + half) % (1 << 64) - half
