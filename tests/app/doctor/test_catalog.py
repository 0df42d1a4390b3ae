"""What holds for every check."""

import re

import pytest

from stockman.app.doctor import CHECKS
from stockman.assessment.doctor.check import Check, CheckResult, CheckStatus, Question
from tests.app.doctor.fakes import FakeMachine, FakeRepo, scene


def test_every_check_has_a_name_of_its_own() -> None:
    names = [check.name for check in CHECKS]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+\.[a-z0-9-]+", name) for name in names)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_says_in_one_sentence_what_holds(check: Check) -> None:
    assert re.fullmatch(r"[A-Z][^.]+\.", check.about)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_what_is_not_well_has_a_fix(check: Check) -> None:
    bare = scene(machine=FakeMachine({}), repo=FakeRepo(version=None, silent="git is gone"))

    findings = [result for result in check.look(bare) if isinstance(result, CheckResult)]

    for finding in findings:
        assert bool(finding.fix) is (finding.status not in (CheckStatus.OK, CheckStatus.SKIP))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_with_nothing_to_look_at_breaks_nowhere(check: Check) -> None:
    empty = scene(cluster="", nodes="", machine=FakeMachine({}), repo=FakeRepo())

    assert all(isinstance(result, CheckResult | Question) for result in check.look(empty))
