"""Generate the table of presets for the lab.

    python scripts/write_lab_presets.py

Reading a preset as a configuration takes longer than the rest of the start of a lab.
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
