"""Identities that tests use: made of bytes that everyone knows, so no secret."""

from datetime import UTC, datetime
from pathlib import Path

from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.sops.files import EncryptionInputs
from tests.crypto.generated import Dice

VECTORS = Path(__file__).parent / "vectors"

OWNER = AgeIdentity(bytes(range(32)), post_quantum=False)
OTHER = AgeIdentity(bytes(range(1, 33)), post_quantum=False)
QUANTUM = AgeIdentity(bytes(range(32)), post_quantum=True)
NOON = datetime(2026, 8, 1, 12, 0, 0, 999, tzinfo=UTC)


def fresh(seed: str = "fresh", now: datetime = NOON) -> EncryptionInputs:
    """The same dice for the same seed, at noon."""
    return EncryptionInputs(now=now, random_bytes=Dice(seed).bytes)


def vector(name: str) -> bytes:
    return (VECTORS / name).read_bytes()
