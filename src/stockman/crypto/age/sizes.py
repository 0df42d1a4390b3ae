"""How long keys of age are."""

from __future__ import annotations

CLASSIC_BYTES = 32
"""X25519, each half."""
HYBRID_SEED_BYTES = 32
HYBRID_PUBLIC_BYTES = 1184 + CLASSIC_BYTES
"""ML-KEM-768 and X25519."""
