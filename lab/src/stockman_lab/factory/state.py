"""What an Image Factory knows: schematics that were posted, and what Talos it builds."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman.model.tables import read_table

EMPTY_ID = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
EMPTY_TEXT = "customization: {}\n"
_BEFORE = (("1.10", 9),)
"""Lines that are older than the supported ones, and their newest patch."""
_UPCOMING = "v1.15.0-alpha.0"


def offered_versions() -> list[str]:
    """Every release of the lines that stockman knows, the line before, and a first look ahead."""
    lines = [
        *_BEFORE,
        *((row["line"], _patch(row["newest"])) for row in read_table("talos")["rows"]),
    ]
    stable = [f"v{line}.{patch}" for line, newest in lines for patch in range(newest + 1)]
    return [*stable, _UPCOMING]


@dataclass
class FactoryState:
    """The state of one factory."""

    schematics: dict[str, str] = field(default_factory=lambda: {EMPTY_ID: EMPTY_TEXT})
    """Those that were posted, as the factory writes them, by id."""
    versions: list[str] = field(default_factory=offered_versions)
    """Talos on offer, `v1.13.9`, from old to new."""
    broken: list[str] = field(default_factory=list)
    """Talos that is on offer and known not to work."""
    withdrawn: dict[str, list[str]] = field(default_factory=dict)
    """Extensions that were not built for a version, by version."""
    enterprise: bool = False
    """Whether it is of the edition that tells checksums."""


def _patch(version: str) -> int:
    return int(version.rpartition(".")[2])
