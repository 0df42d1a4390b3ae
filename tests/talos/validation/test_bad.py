"""Every bad configuration is refused at its place, by the minors that refuse it."""

from __future__ import annotations

import pytest

from stockman.model.origin import Position
from stockman.model.problem import Problem
from tests.talos.validation.bad import FILE, Bad, bad
from tests.talos.validation.judge import our_problems

NAMES = [case.name for case in bad()]


def told(case: Bad, minor: str) -> list[Problem]:
    return list(our_problems(case.case, minor, FILE))


def test_there_are_more_than_eighty_with_names_of_their_own() -> None:
    assert len(NAMES) == len(set(NAMES)) > 80


@pytest.mark.parametrize("case", bad(), ids=NAMES)
def test_a_bad_configuration_is_refused_with_its_code_at_its_place(case: Bad) -> None:
    for minor in case.refused:
        errors = [problem for problem in told(case, minor) if problem.is_error]

        assert {problem.code for problem in errors} == {case.row["code"]}, minor
        assert isinstance(errors[0].where, Position)
        assert case.place is None or case.place in [problem.where for problem in errors], minor


@pytest.mark.parametrize("case", bad(), ids=NAMES)
def test_other_minors_take_it(case: Bad) -> None:
    accepting = [minor for minor in case.judged if minor not in case.refused]

    assert [told(case, minor) for minor in accepting if _errors(case, minor)] == []


def _errors(case: Bad, minor: str) -> list[Problem]:
    return [problem for problem in told(case, minor) if problem.is_error]
