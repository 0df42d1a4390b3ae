"""A DNS query that checks whether a name server works."""

from __future__ import annotations

from struct import Struct

from stockman.ports.environment import NoAnswer

_HEADER = Struct("!HHHHHH")
_RECURSION = 0x0100  # recursion desired
_IS_ANSWER = 0x8000
_ROOT_NAME_SERVERS = b"\x00" + Struct("!HH").pack(2, 1)
_ERROR_CODES = {
    1: "it does not understand a standard query",
    2: "it cannot resolve names",
    4: "it does not support such queries",
    5: "it refuses the query",
}


def build_query(number: int) -> bytes:
    """Return a query for the name servers of the root, which every resolver knows."""
    return _HEADER.pack(number, _RECURSION, 1, 0, 0, 0) + _ROOT_NAME_SERVERS


def check_answer(answer: bytes, number: int) -> None:
    """Check that an answer comes from a working name server; raises `NoAnswer`."""
    if len(answer) < _HEADER.size:
        raise NoAnswer("its answer is too short for DNS")
    number_in_answer, flags, *_ = _HEADER.unpack_from(answer)
    if number_in_answer != number or not flags & _IS_ANSWER:
        raise NoAnswer("its answer does not match the query")
    error = _ERROR_CODES.get(flags & 0xF)
    if error is not None:
        raise NoAnswer(error)
