"""A lab that runs, asked from another process."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlencode

from stockman.model.errors import NotFound, WrongUsage
from stockman.model.problem import Problem
from stockman_lab.commands.runtime.directories import LabFiles, absent, running

_SECONDS = 30.0
_OK = 200


def ask(files: LabFiles, text: str, **query: object) -> object:
    """What a running lab says."""
    return _exchange(files, "GET", f"{text}?{urlencode(query)}" if query else text, None)


def tell(files: LabFiles, text: str, content: dict[str, object]) -> object:
    """Have a running lab do something."""
    return _exchange(files, "POST", text, content)


def _exchange(files: LabFiles, method: str, text: str, content: dict[str, object] | None) -> object:
    lab = running(files)
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=_SECONDS)
    headers = {"Authorization": f"Bearer {lab.token.reveal()}", "Content-Type": "application/json"}
    body = None if content is None else json.dumps(content)
    try:
        connection.request(method, f"/{text}", body, headers)
        reply = connection.getresponse()
        data = json.loads(reply.read() or b"{}")
    except (OSError, ValueError, http.client.HTTPException):
        raise NotFound(absent(files)) from None
    finally:
        connection.close()
    if reply.status != _OK:
        raise WrongUsage(not_understood(str(data.get("error", reply.reason))))
    return data.get("data")


def not_understood(why: str) -> Problem:
    """A wish that a running lab has no place for."""
    return Problem(
        code="lab.asked",
        what="the lab does not understand that",
        why=why,
        fix="see the help of the command for what it takes",
    )
