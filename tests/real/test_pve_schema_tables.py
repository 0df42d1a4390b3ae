"""The tables of the API of Proxmox VE are what their script makes of the API's descriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.write_pve_schema import PLACE, SOURCES, table

DESCRIPTIONS = Path(__file__).parents[3] / "shared" / "schemas" / "proxmox"
MOST_BYTES = 250_000


@pytest.mark.parametrize("profile", SOURCES)
@pytest.mark.skipif(not DESCRIPTIONS.is_dir(), reason="no API descriptions at hand")
def test_a_table_is_what_the_script_writes(profile: str) -> None:
    operations = json.loads((DESCRIPTIONS / SOURCES[profile]).read_text("utf-8"))

    written = (PLACE / f"{profile}.json").read_text("utf-8")

    assert written == table(operations)
    assert len(written) < MOST_BYTES
