"""Ages in few characters."""

from __future__ import annotations

import pytest
from stockman_lab.kube.tables.ages import Ages, human

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((-5, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s")),
        *((10 * MINUTE + 5, "10m"), (3 * HOUR - 1, "179m"), (3 * HOUR, "3h")),
        *((3 * HOUR + 5 * MINUTE, "3h5m"), (8 * HOUR + 5 * MINUTE, "8h"), (2 * DAY - 1, "47h")),
        *((2 * DAY, "2d"), (2 * DAY + HOUR, "2d1h"), (8 * DAY + HOUR, "8d")),
        *((2 * YEAR - 1, "729d"), (2 * YEAR + DAY, "2y1d"), (3 * YEAR, "3y"), (9 * YEAR, "9y")),
    ],
)
def test_stretches_of_time_have_one_or_two_units(seconds: float, text: str) -> None:
    assert human(seconds) == text


def test_ages_are_counted_from_the_moment_given() -> None:
    ages = Ages(1767225600.0)

    assert ages.since("2025-12-31T23:59:00Z") == "60s"
    assert ages.since(None) == "<unknown>"
