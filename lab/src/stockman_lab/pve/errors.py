"""How the API of Proxmox VE says no."""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """A refused request: status, text of the status line, and what is wrong with parameters."""

    def __init__(self, status: int, message: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = dict(errors or {})


def bad_parameters(errors: Mapping[str, str]) -> ApiError:
    """The refusal of parameters that do not fit the schema."""
    return ApiError(400, "Parameter verification failed.", errors)


def die(message: str) -> ApiError:
    """What a handler that gives up answers."""
    return ApiError(500, message)
