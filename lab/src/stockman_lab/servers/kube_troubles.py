"""Refusals of API servers that have trouble, in the words in which they tell it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from stockman_lab.core.faults import Fault
from stockman_lab.kube.access.attributes import Attributes
from stockman_lab.kube.api import answers
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.failures import About, Failure, expired, internal
from stockman_lab.kube.store.entries import compact_json

_BROKEN, _GONE, _TOO_MANY = 500, 410, 429
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
_ETCD = "etcdserver: "
"""What texts of etcd begin with, which servers pass on without a reason of their own."""
_INTERNAL = "Internal error occurred: "
_WEBHOOK = "failed calling webhook"
_OVERLOADED = "Too many requests, please try again later."
_OLD = "The resourceVersion for the provided {} is too old."


def troubled(attributes: Attributes, fault: Fault) -> Response:
    """What a server answers that a fault struck."""
    status = fault.status or _BROKEN
    if status == _TOO_MANY and not fault.message:
        return _overload_response(fault)
    if status == _GONE and attributes.verb == "watch":
        return _forgotten(fault)
    return answers.refused(_failure(status, attributes, fault))


def _overload_response(fault: Fault) -> Response:
    """As a server says before it has even looked at a request."""
    plain = answers.plain(f"{_OVERLOADED}\n", _TOO_MANY)
    plain.headers["Retry-After"] = str(int(fault.seconds) or 1)
    return plain


def _forgotten(fault: Fault) -> Response:
    """A watch that begins, and ends with the word that it cannot go on from there."""
    failure = expired(fault.message or _OLD.format("watch"))
    line = b'{"type":"ERROR","object":%s}\n' % compact_json(failure.status)

    async def lines() -> AsyncIterator[bytes]:
        yield line

    headers = {"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
    return Response(200, headers, stream=lines())


def _failure(status: int, attributes: Attributes, fault: Fault) -> Failure:
    text = fault.message.removeprefix(_INTERNAL)
    if status == _GONE and not text:
        return expired(_OLD.format(attributes.verb))
    if status == _BROKEN and (text != fault.message or text.startswith(_WEBHOOK)):
        return internal(text)
    text = text or f"{_ETCD}request timed out"
    reason = "" if text.startswith(_ETCD) else _REASONS.get(status, "")
    about = About(retry_after=int(fault.seconds)) if fault.seconds >= 1 else None
    return Failure(status, reason, text, about)
