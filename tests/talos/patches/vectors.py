"""Pairs with what the real talosctl made of them, for tests without the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from tests.talos.patches.pairs import Pair

PLACE = Path(__file__).parent / "vectors"


class Vector(NamedTuple):
    """A pair, and what talosctl of a minor printed."""

    minor: str
    pair: Pair
    text: str | None
    """None: talosctl refused."""


def vectors() -> list[Vector]:
    vectors = []
    for file in sorted(PLACE.glob("*.json")):
        for row in json.loads(file.read_text(encoding="utf-8")):
            pair = Pair(config=row["config"], patches=tuple(row["patches"]))
            vectors.append(Vector(file.stem, pair, row["text"]))
    return vectors
