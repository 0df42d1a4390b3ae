"""Writes what the lab needs to know of presets, made from the presets themselves.

    python scripts/write_lab_presets.py

A lab has to start at once, and reading a preset as a configuration takes longer than all the rest.
"""

from __future__ import annotations

import json
from pathlib import Path

from stockman_lab.world.reading import read_preset

from stockman.config.presets import PRESETS

PLACE = Path(__file__).parents[1] / "lab/src/stockman_lab/world/presets.json"


def text() -> str:
    """The table."""
    return json.dumps({name: read_preset(name) for name in PRESETS}, indent=1) + "\n"


if __name__ == "__main__":
    PLACE.write_text(text())
