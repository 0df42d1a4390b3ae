"""What keeps a call from being made at all, in our words."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from http import HTTPStatus

from stockman.model.errors import Refused, StockmanError, Unreachable
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.proxmox.errors import (
    ErrorReply,
    Requester,
    clean_text,
    reply_error,
    unexpected_answer,
)
from stockman.proxmox.transport import Reply, Request


def unreachable_error(where: str, why: str) -> Unreachable:
    """Nobody answered, or not in time."""
    return Unreachable(
        Problem(
            code="proxmox.unreachable",
            what="the API of Proxmox VE gives no answer",
            where=where,
            why=why,
            fix="check the endpoint, the host and the network between; `stockman doctor` tells",
        )
    )


def certificate_error(where: str, why: str, fingerprint: str) -> Refused:
    """The certificate is not one to be trusted, so nothing was sent."""
    pin = (
        f": it showed {fingerprint}, compare that with what `pvenode cert info` prints on the host"
        if fingerprint
        else ""
    )
    fix = (
        "give the host's /etc/pve/pve-root-ca.pem with `proxmox.tls.ca_file`, or pin"
        f" `proxmox.tls.fingerprint`{pin}"
    )
    return Refused(_trust_problem(where, why, fix))


def fingerprint_error(where: str, why: str) -> Refused:
    """The certificate is another than the pinned one, so nothing was sent."""
    fix = "look at the host itself; if its certificate was renewed, pin the new one"
    return Refused(_trust_problem(where, why, fix))


def _trust_problem(where: str, why: str, fix: str) -> Problem:
    return Problem(
        code="proxmox.certificate",
        what="the certificate of Proxmox VE is not trusted, and no token was sent",
        where=where,
        why=why,
        fix=fix,
    )


def is_final(trouble: StockmanError) -> bool:
    """Whether other endpoints are left alone: one with a wrong certificate is a surprise."""
    return isinstance(trouble, Refused)


def certificate_flaw(error: BaseException) -> ssl.SSLCertVerificationError | None:
    """The refusal of a certificate behind an error. None: it is about something else."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, ssl.SSLCertVerificationError):
            return at
        at = at.__cause__ or at.__context__
    return None


def error_reason(error: BaseException) -> str:
    """An error of a library as a clause."""
    deepest, at = error, error
    while (following := at.__cause__ or at.__context__) is not None:
        at = following
        if isinstance(at, OSError):
            deepest = at
    if isinstance(deepest, ConnectionRefusedError):
        return "nothing listens there"
    if isinstance(deepest, ConnectionResetError | BrokenPipeError | ssl.SSLEOFError):
        return "the connection was cut"
    if isinstance(deepest, ssl.SSLError):
        return f"it does not speak TLS as we do: {lower_first(deepest.reason or 'no reason')}"
    if isinstance(deepest, socket.gaierror):
        return f"its name has no address ({lower_first(deepest.strerror or 'not told')})"
    if isinstance(deepest, TimeoutError):
        return "no connection in time"
    told = str(deepest) or type(error).__name__
    return lower_first(told.rstrip("."))


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


_SHORTEST_SECRET = 16
"""Shorter texts stand in answers by chance. Tokens of Proxmox VE have 36 characters."""


@record
class HttpAnswer:
    """An answer as it came."""

    status: int
    reason: str
    body: bytes
    at: str = ""
    """The endpoint that it came from."""


@record
class ReplyContext:
    """What is known of whoever asks."""

    requester: Requester
    secrets: tuple[str, ...]
    """Texts of this requester that nobody may see."""
    token: str = ""
    """A secret that no answer has a reason to hold. Empty: there is a password, which may be a
    word that stands in answers anyway."""


def parse_reply(request: Request, answer: HttpAnswer, known: ReplyContext) -> Reply:
    """What an answer says; raises what it means where it is a no."""
    body = _parse_object(_mask_token(answer.body, known.token))
    if answer.status != HTTPStatus.OK:
        raise reply_error(request, _error_reply(answer, body or {}, known))
    if body is None:
        raise unexpected_answer(request, "its answer is not a JSON object")
    total = body.get("total")
    changes = body.get("changes")
    return Reply(
        data=body.get("data"),
        total=int(total) if isinstance(total, int | float) else None,
        changes=changes if isinstance(changes, str) else "",
    )


def _mask_token(body: bytes, token: str) -> bytes:
    """The body without a token that a server says back, such as in the end of a task."""
    return body.replace(token.encode(), MASK.encode()) if len(token) >= _SHORTEST_SECRET else body


def _error_reply(answer: HttpAnswer, body: Mapping[str, object], known: ReplyContext) -> ErrorReply:
    message, errors = body.get("message"), body.get("errors")
    secrets = known.secrets
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
        requester=known.requester,
        endpoint=answer.at,
    )


def _parse_object(body: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
