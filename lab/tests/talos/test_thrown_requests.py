"""Whatever is asked of machines, by whomever and in whatever state, they answer as real ones."""

from __future__ import annotations

import pytest

from lab.tests.talos.thrown import VERSIONS, Findings, methods_of, run

REQUESTS = 300


@pytest.fixture(scope="module", params=VERSIONS)
def findings(request: pytest.FixtureRequest) -> Findings:
    return run(str(request.param), seed=1, count=REQUESTS // len(VERSIONS))


def test_every_request_gets_an_answer_that_the_real_one_could_give(findings: Findings) -> None:
    assert findings.wrong == []


def test_requests_are_answered_and_refused(findings: Findings) -> None:
    assert findings.codes["answered"] > 5
    assert findings.codes.keys() >= {"PERMISSION_DENIED", "UNIMPLEMENTED", "INVALID_ARGUMENT"}


def test_much_of_what_can_be_asked_for_is_asked_for(findings: Findings) -> None:
    assert len(findings.asked) > 0.4 * len(methods_of("1.14"))


def test_the_same_seed_gives_the_same_answers() -> None:
    assert run("1.13.9", seed=7, count=15) == run("1.13.9", seed=7, count=15)
