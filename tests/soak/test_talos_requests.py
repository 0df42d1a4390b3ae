"""Many requests of every method of every minor: no crash, no contradiction."""

from __future__ import annotations

import pytest

from lab.tests.talos.thrown import VERSIONS, methods_of, run

REQUESTS = 12_000


@pytest.mark.parametrize("version", VERSIONS)
def test_thousands_of_requests_get_answers_that_real_machines_could_give(version: str) -> None:
    found = run(version, seed=2, count=REQUESTS // len(VERSIONS))

    assert found.wrong == []
    assert len(found.asked) >= len(methods_of(version.rpartition(".")[0]))
