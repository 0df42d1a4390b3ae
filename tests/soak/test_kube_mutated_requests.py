"""Very many requests to the API server that are wrong in some way: each is answered."""

from __future__ import annotations

import pytest

from lab.tests.kube.api.test_mutated_requests import answered
from lab.tests.kube.asking import served
from lab.tests.kube.mutating import mutated

EACH = 2_000


@pytest.mark.parametrize("seed", range(100, 110))
def test_thousands_of_wrong_requests_are_answered(seed: int) -> None:
    lab = served()
    statuses = {answered(lab, asked) for asked in mutated(EACH, seed)}

    assert {200, 201, 400, 404, 405, 415, 422} <= statuses
