"""Images that tests look at."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman_lab.images.facts import ImageFacts

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GIB, MIB = 1 << 30, 1 << 20
SCHEMATIC = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"


def facts(size: int = 10 * GIB, platform: str = "nocloud") -> ImageFacts:
    return ImageFacts(
        platform=platform,
        version="v1.13.9",
        schematic=SCHEMATIC,
        virtual_size=size,
        more={"extra": "yes"},
    )
