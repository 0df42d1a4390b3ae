"""Errors of a change, told with what it was meant to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stockman_lab.pve.errors import ApiError, die


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
