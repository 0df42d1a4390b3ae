"""Recorded answers of real systems, which are not part of the repository."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

RECORDINGS = Path(
    os.environ.get("STOCKMAN_RECORDINGS") or Path(__file__).parents[4] / "shared" / "recordings"
)
"""`../shared/recordings` beside the repository."""

Answer = Mapping[str, Any]


def read_answers(file: str) -> list[Answer]:
    """Return the lines of a recording; without recordings the test fails in CI, or is skipped."""
    path = RECORDINGS / file
    if not path.is_file():
        if os.environ.get("CI"):
            pytest.fail(f"{path} is missing: set STOCKMAN_RECORDINGS to the folder of recordings")
        pytest.skip(f"{path} is missing; recordings of real systems are not published")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def scalars(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the plain values of a recorded row as texts."""
    for name, value in row.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            yield name, str(value)
