"""Every bad configuration is refused at its place, by the minors that refuse it."""

from __future__ import annotations

import pytest

from stockman.model.origin import Position
from stockman.model.problem import Problem
from tests.talos.validation.bad import FILE, Bad, bad
from tests.talos.validation.judge import our_problems

NAMES = [one.name for one in bad()]


def told(one: Bad, minor: str) -> list[Problem]:
    return list(our_problems(one.case, minor, FILE))


def test_there_are_more_than_eighty_with_names_of_their_own() -> None:
    assert len(NAMES) == len(set(NAMES)) > 80


@pytest.mark.parametrize("one", bad(), ids=NAMES)
def test_a_bad_configuration_is_refused_with_its_code_at_its_place(one: Bad) -> None:
    for minor in one.refused:
        errors = [problem for problem in told(one, minor) if problem.is_error]

        assert {problem.code for problem in errors} == {one.row["code"]}, minor
        assert isinstance(errors[0].where, Position)
        assert one.place is None or one.place in [problem.where for problem in errors], minor


@pytest.mark.parametrize("one", bad(), ids=NAMES)
def test_other_minors_take_it(one: Bad) -> None:
    accepting = [minor for minor in one.judged if minor not in one.refused]

    assert [told(one, minor) for minor in accepting if _errors(one, minor)] == []


def _errors(one: Bad, minor: str) -> list[Problem]:
    return [problem for problem in told(one, minor) if problem.is_error]
