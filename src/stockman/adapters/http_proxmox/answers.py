"""Answers of the server taken apart: the envelope of good ones, the words of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from stockman.model.record import record
from stockman.proxmox.refusals import Refusal, clean, odd_answer, refusal
from stockman.proxmox.wire import Reply, Request


@record
class Answer:
    """An answer as it came."""

    status: int
    reason: str
    body: bytes


def reply_of(request: Request, answer: Answer, secrets: tuple[str, ...]) -> Reply:
    """What an answer says; raises what it means where it is a no."""
    body = _object(answer.body)
    if answer.status != HTTPStatus.OK:
        raise refusal(request, _refusal(answer, body or {}, secrets))
    if body is None:
        raise odd_answer(request, "its answer is not a JSON object")
    total = body.get("total")
    changes = body.get("changes")
    return Reply(
        data=body.get("data"),
        total=int(total) if isinstance(total, int | float) else None,
        changes=changes if isinstance(changes, str) else "",
    )


def _refusal(answer: Answer, body: Mapping[str, object], secrets: tuple[str, ...]) -> Refusal:
    message, errors = body.get("message"), body.get("errors")
    return Refusal(
        status=answer.status,
        reason=clean(answer.reason, secrets),
        message=clean(message, secrets) if isinstance(message, str) else "",
        errors={
            clean(str(name), secrets): clean(str(text), secrets) for name, text in errors.items()
        }
        if isinstance(errors, dict)
        else {},
    )


def _object(body: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
