"""Exit statuses of commands."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Every exit status of a command, with its meaning."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done, or nothing to do"
    FAILED = 1, "failed"
    CHANGES = 2, "changes pending"
    REFUSED = 3, "a gate refused"
    PARTLY = 4, "partly done"
    USAGE = 64, "wrong usage"
    INTERRUPTED = 130, "interrupted"
    PIPE_CLOSED = 141, "the reader of the output closed it"
