"""Errors of connections, and the translation of replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from stockman.model.errors import Refused, StockmanError, Unreachable
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK, clean_text
from stockman.proxmox.errors import (
    ErrorReply,
    Requester,
    reply_error,
    unexpected_answer,
)
from stockman.proxmox.transport import Reply, Request


def unreachable_error(where: str, why: str) -> Unreachable:
    """Return the error for an endpoint that does not respond in time."""
    return Unreachable(
        Problem(
            code="proxmox.unreachable",
            what="the Proxmox VE API does not respond",
            where=where,
            why=why,
            fix="check the endpoint, the host and the network; see `stockman doctor`",
        )
    )


def certificate_error(where: str, why: str, fingerprint: str) -> Refused:
    """Return the error for an untrusted certificate; nothing was sent."""
    pin = (
        f": the server presented {fingerprint}, compare it with `pvenode cert info` on the host"
        if fingerprint
        else ""
    )
    fix = (
        "set `proxmox.tls.ca_file` to the host's /etc/pve/pve-root-ca.pem, or pin"
        f" `proxmox.tls.fingerprint`{pin}"
    )
    return Refused(_trust_problem(where, why, fix))


def fingerprint_error(where: str, why: str) -> Refused:
    """Return the error for a certificate with another fingerprint; nothing was sent."""
    fix = "check the host; if its certificate was renewed, pin the new fingerprint"
    return Refused(_trust_problem(where, why, fix))


def _trust_problem(where: str, why: str, fix: str) -> Problem:
    return Problem(
        code="proxmox.certificate",
        what="the certificate of Proxmox VE is not trusted, and the token was not sent",
        where=where,
        why=why,
        fix=fix,
    )


def is_final(error: StockmanError) -> bool:
    """Return whether other endpoints are not tried: a wrong certificate stops the request."""
    return isinstance(error, Refused)


_SHORTEST_SECRET = 16
"""Shorter texts may occur in replies by chance. Tokens of Proxmox VE have 36 characters."""


@record
class HttpAnswer:
    """A raw reply."""

    status: int
    reason: str
    body: bytes
    at: str = ""
    """The endpoint that replied."""


@record
class ReplyContext:
    """The requester and its secrets, for error messages."""

    requester: Requester
    secrets: tuple[str, ...]
    """Secret texts of the requester."""
    token: str = ""
    """A token to mask in replies. Empty: a password, which may be a common word."""


def parse_reply(request: Request, answer: HttpAnswer, context: ReplyContext) -> Reply:
    """Parse a reply; raises the error of an error reply."""
    body = _parse_object(_mask_token(answer.body, context.token))
    if answer.status != HTTPStatus.OK:
        raise reply_error(request, _error_reply(answer, body or {}, context))
    if body is None:
        raise unexpected_answer(request, "its reply is not a JSON object")
    total = body.get("total")
    changes = body.get("changes")
    return Reply(
        data=body.get("data"),
        total=int(total) if isinstance(total, int | float) else None,
        changes=changes if isinstance(changes, str) else "",
    )


def _mask_token(body: bytes, token: str) -> bytes:
    """Mask a token that the server repeats in its reply."""
    return body.replace(token.encode(), MASK.encode()) if len(token) >= _SHORTEST_SECRET else body


def _error_reply(
    answer: HttpAnswer, body: Mapping[str, object], context: ReplyContext
) -> ErrorReply:
    message, errors = body.get("message"), body.get("errors")
    secrets = context.secrets
    return ErrorReply(
        status=answer.status,
        reason=clean_text(answer.reason, secrets),
        message=clean_text(message, secrets) if isinstance(message, str) else "",
        errors={
            clean_text(str(name), secrets): clean_text(str(text), secrets)
            for name, text in errors.items()
        }
        if isinstance(errors, dict)
        else {},
        requester=context.requester,
        endpoint=answer.at,
    )


def _parse_object(body: bytes) -> dict[str, object] | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
