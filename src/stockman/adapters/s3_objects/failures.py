"""Errors of the library for objects, in our words."""

from __future__ import annotations

import re

from stockman.model.errors import StockmanError
from stockman.s3.refusals import conflict, lost, odd_answer, refusal, unreachable

_STATUS = re.compile(r"status code: (\d{3})")
_KIND = re.compile(r"kind: (Connect|Timeout|Interrupted|Request|Decode)\b")
_WORDS = {
    "Connect": "no connection to it",
    "Timeout": "it fell silent",
    "Interrupted": "the connection was cut",
    "Request": "the connection was cut",
}
_UNTRUSTED = ("InvalidCertificate", "invalid peer certificate")


def failure(shown: str, error: Exception, *, once: bool = False) -> StockmanError:
    """What an error means. Its own text is long, and repeats what the storage sent: left out."""
    told = str(error)
    status = _STATUS.search(told)
    if status is not None:
        return refusal(shown, int(status[1]), told, once=once)
    if type(error).__name__ == "AlreadyExistsError":
        return conflict(shown, "it is there already")
    if any(sign in told for sign in _UNTRUSTED):
        return unreachable(shown, "its certificate is not trusted")
    kind = _KIND.search(told)
    if kind is None or kind[1] == "Decode":
        return odd_answer(shown, "its answer makes no sense")
    if kind[1] == "Connect":
        return unreachable(shown, _WORDS[kind[1]])
    return lost(shown, _WORDS[kind[1]], once=once)
