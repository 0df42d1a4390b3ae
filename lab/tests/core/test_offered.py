"""Faults that could never do what they say are refused with a sentence."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import FACTS, OFFERED, Effect, Fault, Point
from stockman_lab.core.saved import Unreadable, restored

MEANINGLESS = [(point, one) for point in Point for one in Effect if one not in OFFERED[point]]


def test_every_point_knows_effects_and_facts() -> None:
    assert set(OFFERED) == set(FACTS) == set(Point)
    assert all(OFFERED.values())


@pytest.mark.parametrize(("point", "effect"), MEANINGLESS)
def test_what_a_point_has_no_use_for_is_refused(point: Point, effect: Effect) -> None:
    text = f"`{effect.value}` means nothing at `{point.value}`, which knows `"
    with pytest.raises(ValueError, match=text):
        Fault(point, effect, seconds=1)


def test_the_refusal_tells_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"which knows `delay` and `hang`$"):
        Fault(Point.SHUTDOWN, Effect.CUT)


def test_a_fact_that_nobody_tells_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nothing at `quorum` is called `node`; .* `cluster`$"):
        Fault(Point.QUORUM, Effect.FAIL, {"node": "pve1"})


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"point": "task", "effect": "delay"}, "delays nothing"),
        ({"point": "resources", "effect": "lie"}, "how old rows of resources are"),
        ({"point": "quorum", "effect": "fail", "skip": 2}, "none can be spared"),
        ({"point": "boot", "effect": "corrupt"}, "means nothing at `boot`"),
    ],
)
def test_faults_of_a_file_are_refused_alike(fault: dict[str, object], text: str) -> None:
    with pytest.raises(Unreadable, match=text):
        restored(Fault, fault)
