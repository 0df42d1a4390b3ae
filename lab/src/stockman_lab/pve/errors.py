"""How the API of Proxmox VE says no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Tells any refusal as `create user failed: ...`, always with status 500.

    Changes hold the lock of `user.cfg`, and what goes wrong under it loses its own status.
    """
    try:
        yield
    except ApiError as error:
        status = "" if error.status == die("").status else f"{error.status} "
        lines = [f"{what}: {status}{error.message}"]
        lines.extend(f"{name}: {wrong}" for name, wrong in error.errors.items())
        raise die("\n".join(lines)) from error


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
