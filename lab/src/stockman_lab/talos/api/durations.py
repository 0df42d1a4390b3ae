"""Durations of requests, as far as Go's go."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration

_MOST = ((1 << 63) - 1) / 1e9
"""About 292 years: whatever is longer, or as long before, becomes that."""


def seconds_in(duration: Duration) -> float:
    """Seconds of a duration."""
    return max(-_MOST, min(_MOST, duration.seconds + duration.nanos / 1e9))
