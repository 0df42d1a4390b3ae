"""Durations of requests are as long as Go's can be."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration
from stockman_lab.talos.api.call import seconds_in


@pytest.mark.parametrize(
    ("seconds", "nanos", "found"),
    [
        (0, 0, 0.0),
        (60, 500_000_000, 60.5),
        (-3, 0, -3.0),
        ((1 << 63) - 1, 0, 9_223_372_036.854775),
        (-(1 << 63), 0, -9_223_372_036.854775),
    ],
)
def test_a_duration_is_told_in_seconds(seconds: int, nanos: int, found: float) -> None:
    assert seconds_in(Duration(seconds=seconds, nanos=nanos)) == pytest.approx(found)
