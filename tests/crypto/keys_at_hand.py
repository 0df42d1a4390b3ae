"""Identities that tests use: made of bytes that everyone knows, so no secret."""

from datetime import UTC, datetime
from pathlib import Path

from stockman.crypto.age.identities import Identity
from stockman.crypto.sops.sealing import Fresh
from tests.crypto.generated import Dice

VECTORS = Path(__file__).parent / "vectors"

OWNER = Identity(bytes(range(32)), post_quantum=False)
OTHER = Identity(bytes(range(1, 33)), post_quantum=False)
QUANTUM = Identity(bytes(range(32)), post_quantum=True)
NOON = datetime(2026, 8, 1, 12, 0, 0, 999, tzinfo=UTC)


def fresh(seed: str = "fresh", now: datetime = NOON) -> Fresh:
    """The same dice for the same seed, at noon."""
    return Fresh(now=now, random_bytes=Dice(seed).bytes)


def vector(name: str) -> bytes:
    return (VECTORS / name).read_bytes()
