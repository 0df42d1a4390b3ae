"""Many requests made from the schema: no crash, no contradiction, nothing that Python says."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema.schema import PROFILES

from lab.tests.generated import run

REQUESTS = 20_000


@pytest.mark.parametrize("profile", PROFILES)
def test_thousands_of_requests_get_answers_that_the_real_one_could_give(profile: str) -> None:
    found = run(profile, seed=2, count=REQUESTS // len(PROFILES))

    assert found.wrong == []


@pytest.mark.parametrize("profile", PROFILES)
def test_nearly_everything_that_can_be_asked_for_succeeds_at_some_time(profile: str) -> None:
    found = run(profile, seed=3, count=REQUESTS // 4)

    assert len(found.succeeded) > 0.8 * len(found.asked)
