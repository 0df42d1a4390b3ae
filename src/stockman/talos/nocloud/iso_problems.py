"""What is said of images that cannot be made or read."""

from __future__ import annotations

from stockman.model.errors import Refused
from stockman.model.problem import Problem


def cannot_hold(what: str, why: str) -> Refused:
    """An image that cannot be made."""
    return Refused(
        Problem(
            code="nocloud.image-content",
            what=f"a NoCloud image cannot hold {what}",
            why=why,
            fix="make the content smaller, and use plain names such as user-data",
        )
    )


def unreadable(file: str, why: str) -> Refused:
    """An image that cannot be read."""
    return Refused(
        Problem(
            code="nocloud.image-unreadable",
            what="this is no image that can be read",
            where=file,
            why=why,
            fix="make the image again; `stockman config nocloud NODE --iso FILE` writes one",
        )
    )
