"""`ports.Clock` and `ports.Entropy` of the operating system."""

from __future__ import annotations

import os
from datetime import UTC, datetime


class SystemClock:
    """`ports.Clock` by the system's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SystemEntropy:
    """`ports.Entropy` by the system's random number generator."""

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)
