"""Requests made from the schema: whatever is asked, the lab answers as the real one could."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema.schema import PROFILES

from lab.tests.generated import Findings, run

REQUESTS = 500


@pytest.fixture(scope="module", params=PROFILES)
def findings(request: pytest.FixtureRequest) -> Findings:
    return run(str(request.param), seed=1, count=REQUESTS // len(PROFILES))


def test_every_request_gets_an_answer_that_the_real_one_could_give(findings: Findings) -> None:
    assert findings.wrong == []


def test_many_requests_succeed(findings: Findings) -> None:
    assert findings.statuses[200] > REQUESTS / 6


def test_most_kinds_of_refusals_are_met(findings: Findings) -> None:
    assert findings.statuses.keys() >= {200, 400, 403, 500}


def test_the_same_seed_gives_the_same_answers() -> None:
    assert run("9.1", seed=7, count=20) == run("9.1", seed=7, count=20)
