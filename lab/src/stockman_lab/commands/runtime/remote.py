"""A lab that runs, asked from another process."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlencode

from stockman.model.errors import NotFound, WrongUsage
from stockman.model.problem import Problem
from stockman_lab.commands.runtime.directories import LabPlaces, absent, running

_SECONDS = 30.0
_OK = 200


def ask(places: LabPlaces, what: str, **query: object) -> object:
    """What a running lab says."""
    return _exchange(places, "GET", f"{what}?{urlencode(query)}" if query else what, None)


def tell(places: LabPlaces, what: str, content: dict[str, object]) -> object:
    """Have a running lab do something."""
    return _exchange(places, "POST", what, content)


def _exchange(
    places: LabPlaces, method: str, what: str, content: dict[str, object] | None
) -> object:
    lab = running(places)
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=_SECONDS)
    headers = {"Authorization": f"Bearer {lab.token.reveal()}", "Content-Type": "application/json"}
    body = None if content is None else json.dumps(content)
    try:
        connection.request(method, f"/{what}", body, headers)
        reply = connection.getresponse()
        found = json.loads(reply.read() or b"{}")
    except (OSError, ValueError, http.client.HTTPException):
        raise NotFound(absent(places)) from None
    finally:
        connection.close()
    if reply.status != _OK:
        raise WrongUsage(not_understood(str(found.get("error", reply.reason))))
    return found.get("data")


def not_understood(why: str) -> Problem:
    """A wish that a running lab has no place for."""
    return Problem(
        code="lab.asked",
        what="the lab does not understand that",
        why=why,
        fix="see the help of the command for what it takes",
    )
