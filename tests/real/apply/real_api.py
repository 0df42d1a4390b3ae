"""Requests to a real API server on loopback."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from typing import Any

JSON = "application/json"
MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Told:
    """What a server answered."""

    status: int
    content: Any


class RealApi:
    """A real server on loopback."""

    def __init__(self, port: int, token: str) -> None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self._line = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
        self._token = token

    def close(self) -> None:
        self._line.close()

    def ask(self, method: str, path: str, content: Any = None, kind: str = JSON) -> Told:
        """Send a request; the content is sent as JSON."""
        headers = {
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "shepherd/1.0",
            "Accept": JSON,
            "Content-Type": kind,
        }
        body = None if content is None else json.dumps(content).encode()
        self._line.request(method, path, body=body, headers=headers)
        answer = self._line.getresponse()
        return Told(answer.status, _read(answer.read()))


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
