"""Answers of the server taken apart: the envelope of good ones, the words of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.proxmox.refusals import Asker, Refusal, clean, odd_answer, refusal
from stockman.proxmox.wire import Reply, Request

_TELLING = 16
"""Shorter texts stand in answers by chance. Tokens of Proxmox VE have 36 characters."""


@record
class Answer:
    """An answer as it came."""

    status: int
    reason: str
    body: bytes
    at: str = ""
    """The endpoint that it came from."""


@record
class Known:
    """What is known of whoever asks."""

    asker: Asker
    secrets: tuple[str, ...]
    """Texts of this asker that nobody may see."""
    token: str = ""
    """A secret that no answer has a reason to hold. Empty: there is a password, which may be a
    word that stands in answers anyway."""


def reply_of(request: Request, answer: Answer, known: Known) -> Reply:
    """What an answer says; raises what it means where it is a no."""
    body = _object(_without(answer.body, known.token))
    if answer.status != HTTPStatus.OK:
        raise refusal(request, _refusal(answer, body or {}, known))
    if body is None:
        raise odd_answer(request, "its answer is not a JSON object")
    total = body.get("total")
    changes = body.get("changes")
    return Reply(
        data=body.get("data"),
        total=int(total) if isinstance(total, int | float) else None,
        changes=changes if isinstance(changes, str) else "",
    )


def _without(body: bytes, token: str) -> bytes:
    """The body without a token that a server says back, such as in the end of a task."""
    return body.replace(token.encode(), MASK.encode()) if len(token) >= _TELLING else body


def _refusal(answer: Answer, body: Mapping[str, object], known: Known) -> Refusal:
    message, errors = body.get("message"), body.get("errors")
    secrets = known.secrets
    return Refusal(
        status=answer.status,
        reason=clean(answer.reason, secrets),
        message=clean(message, secrets) if isinstance(message, str) else "",
        errors={
            clean(str(name), secrets): clean(str(text), secrets) for name, text in errors.items()
        }
        if isinstance(errors, dict)
        else {},
        asker=known.asker,
        at=answer.at,
    )


def _object(body: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
