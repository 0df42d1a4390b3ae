"""The domain name protocol, as far as it takes to see whether a name server works."""

from __future__ import annotations

from struct import Struct

from stockman.ports.environment import NoAnswer

_HEADER = Struct("!HHHHHH")
_RECURSION = 0x0100  # a question, answered by asking others where needed
_IS_ANSWER = 0x8000
_ROOT_NAME_SERVERS = b"\x00" + Struct("!HH").pack(2, 1)
_ERROR_CODES = {
    1: "it does not understand a plain question",
    2: "it cannot look names up",
    4: "it does not answer such questions",
    5: "it refuses to answer us",
}


def build_query(number: int) -> bytes:
    """The packet that asks for the name servers of the root, which every resolver knows."""
    return _HEADER.pack(number, _RECURSION, 1, 0, 0, 0) + _ROOT_NAME_SERVERS


def check_answer(answer: bytes, number: int) -> None:
    """Return if the answer shows a working name server."""
    if len(answer) < _HEADER.size:
        raise NoAnswer("its answer is too short for a name server's")
    told, flags, *_ = _HEADER.unpack_from(answer)
    if told != number or not flags & _IS_ANSWER:
        raise NoAnswer("its answer is not one to our question")
    complaint = _ERROR_CODES.get(flags & 0xF)
    if complaint is not None:
        raise NoAnswer(complaint)
