"""An SNTP query, and the clock offset from its answer."""

from __future__ import annotations

from struct import Struct

from stockman.ports.environment import NoAnswer

_PACKET = Struct("!BB2x12x8xQQQ")
"""Flags, stratum; (delays, identifier, reference time;) originate, receive and transmit times."""
_TICKS = 1 << 32
"""Ticks per second."""
_EPOCH = 2_208_988_800
"""Seconds from 1900 to 1970."""
_CLIENT = 0b00_100_011
_SERVER = 4
_UNSYNCHRONISED = 3
_WORST_STRATUM = 15


def build_query(cookie: int) -> bytes:
    """Return a time query; its transmit time is a random cookie."""
    return _PACKET.pack(_CLIENT, 0, 0, 0, cookie)


def read_offset(answer: bytes, cookie: int, sent_ns: int, received_ns: int) -> float:
    """Return how far the server is ahead in seconds, given the local Unix times in nanoseconds."""
    if len(answer) < _PACKET.size:
        raise NoAnswer("its answer is too short for SNTP")
    flags, stratum, originate, receive, transmit = _PACKET.unpack_from(answer)
    if flags & 0b111 != _SERVER or originate != cookie:
        raise NoAnswer("its answer does not match the query")
    if stratum == 0:
        raise NoAnswer("it refuses the query")
    if flags >> 6 == _UNSYNCHRONISED or stratum > _WORST_STRATUM or not transmit:
        raise NoAnswer("its clock is not synchronized")
    outbound = _signed(receive - _ticks(sent_ns))
    inbound = _signed(transmit - _ticks(received_ns))
    return (outbound + inbound) / 2 / _TICKS


def _ticks(unix_ns: int) -> int:
    return unix_ns * _TICKS // 1_000_000_000 + _EPOCH * _TICKS


def _signed(ticks: int) -> int:
    """Return the difference nearest to zero: the counter of seconds wraps around in 2036."""
    half = 1 << 63
    return (ticks + half) % (1 << 64) - half
