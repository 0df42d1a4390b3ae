"""Faults make something else of answers."""

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.http.faulty import damaged, outcome_under
from stockman_lab.http.messages import Cut, Hang, Response


class Counted:
    """Counts how often an answer was made."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Response:
        self.times += 1
        return Response(headers={"A": "b"}, body=b"0123456789")


def fault(effect: Effect, **more: object) -> Fault:
    return Fault(Point.FACTORY, effect, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("effect", "outcome", "times"),
    [
        (Effect.FAIL, Response, 0),
        (Effect.DO_THEN_FAIL, Response, 1),
        (Effect.HANG, Hang, 0),
        (Effect.CUT, Cut, 0),
        (Effect.KILL, Cut, 0),
        (Effect.DO_THEN_CUT, Cut, 1),
        (Effect.LIE, Response, 1),
    ],
)
def test_an_effect_does_the_thing_or_not(effect: Effect, outcome: type, times: int) -> None:
    make = Counted()

    result = outcome_under(fault(effect), make)

    assert (type(result.outcome), make.times) == (outcome, times)
    assert result.is_refused is (effect is Effect.KILL)


def test_a_refusal_says_when_to_come_again() -> None:
    outcome = outcome_under(fault(Effect.FAIL, status=429, seconds=12.5), Counted()).outcome

    assert isinstance(outcome, Response)
    assert (outcome.status, outcome.headers["Retry-After"]) == (429, "12")
    assert outcome.body == b"too many requests\n"


def test_a_delay_is_told() -> None:
    assert outcome_under(fault(Effect.DELAY, seconds=5), Counted()).seconds == 5
    assert outcome_under(None, Counted()).seconds == 0


def test_a_truncated_answer_announces_all_of_it() -> None:
    outcome = outcome_under(fault(Effect.CORRUPT, message="truncated"), Counted()).outcome

    assert isinstance(outcome, Response)
    assert (outcome.body, outcome.headers["Content-Length"], outcome.close) == (
        b"01234",
        "10",
        True,
    )


@pytest.mark.parametrize("content", [b"a", b"ab", b"abc" * 1000])
def test_damage_changes_one_byte(content: bytes) -> None:
    result = damaged(content, "")

    assert len(result) == len(content)
    assert sum(one != two for one, two in zip(result, content, strict=True)) == 1
