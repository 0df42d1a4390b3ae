"""Answers of a registry, in the forms of the distribution specification."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from stockman_lab.http.messages import Response

JSON = "application/json"
_VERSION = {"Docker-Distribution-Api-Version": "registry/2.0"}


class RegistryError(Exception):
    """A no, with the code of the specification."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    @property
    def response(self) -> Response:
        return error(self.status, self.message, self.code)


def error(status: int, message: str, code: str = "") -> Response:
    """An error; without a code, the one that belongs to the status."""
    error = {"code": code or _code(status), "message": message}
    return Response(status, headers=_headers(JSON), body=_json({"errors": [error]}))


def content(
    body: bytes, kind: str, digest: str = "", more: Mapping[str, str] | None = None
) -> Response:
    """A content, named by its digest."""
    headers = _headers(kind) | dict(more or {})
    if digest:
        headers |= {"Docker-Content-Digest": digest, "ETag": f'"{digest}"'}
    return Response(headers=headers, body=body)


def document(value: object, kind: str = JSON, more: Mapping[str, str] | None = None) -> Response:
    return Response(headers=_headers(kind) | dict(more or {}), body=_json(value))


def done(status: int, headers: Mapping[str, str]) -> Response:
    """A change that was made."""
    return Response(status, headers={**_VERSION, **headers})


def _headers(kind: str) -> dict[str, str]:
    return {"Content-Type": kind, **_VERSION}


def _code(status: int) -> str:
    known: dict[int, str] = {
        HTTPStatus.UNAUTHORIZED: "UNAUTHORIZED",
        HTTPStatus.FORBIDDEN: "DENIED",
        HTTPStatus.NOT_FOUND: "NAME_UNKNOWN",
        HTTPStatus.METHOD_NOT_ALLOWED: "UNSUPPORTED",
        HTTPStatus.TOO_MANY_REQUESTS: "TOOMANYREQUESTS",
    }
    return known.get(status, "UNKNOWN")


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
