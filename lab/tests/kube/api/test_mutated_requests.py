"""Whatever is asked, there is an answer, and the server goes on."""

from __future__ import annotations

import pytest

from lab.tests.kube.asking import Served, seen, served
from lab.tests.kube.mutating import Asked, mutated, seeds

EACH = 250


def answered(lab: Served, asked: Asked) -> int:
    """The status of an answer that can be read."""
    answer = lab.respond(asked.method, asked.path, asked.body, asked.kind, accept=asked.accept)
    if answer.stream is not None:
        lab.now += 2
        seen(answer)
    else:
        answer.body.decode()
    return answer.status


def test_requests_that_are_right_are_done() -> None:
    lab = served()

    found = {f"{seed.method} {seed.path}": answered(lab, seed) for seed in seeds()[:26]}

    assert {name: status for name, status in found.items() if status != 201} == {}


@pytest.mark.parametrize("seed", range(8))
def test_requests_that_are_wrong_are_answered(seed: int) -> None:
    lab = served()
    broken = {}
    for number, asked in enumerate(mutated(EACH, seed)):
        status = answered(lab, asked)
        if not 200 <= status < 600:
            broken[number] = (asked, status)

    assert broken == {}
    assert lab.respond("GET", "/api/v1/namespaces/default").status in {200, 404}
