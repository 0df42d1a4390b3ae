"""State becomes JSON and comes back the same, or is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum

import pytest
from stockman_lab.core.saved import Unreadable, plain, restored


class Coat(Enum):
    """Colours of sheep."""

    WHITE = "white"
    BLACK = "black"


@dataclass(slots=True)
class Sheep:
    """One of a flock."""

    name: str
    age: int = 0
    coat: Coat = Coat.WHITE
    weight: float = 1.0
    mother: str | None = None
    tags: set[str] = field(default_factory=set)
    photo: bytes = b""


@dataclass(slots=True)
class Flock:
    """Several sheep."""

    sheep: dict[int, Sheep] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    notes: dict[str, object] = field(default_factory=dict)


FLOCK = Flock(
    sheep={
        1: Sheep("Ada", 3, Coat.BLACK, 61.5, None, {"b", "a"}, b"\0\xff"),
        2: Sheep("Bea", mother="Ada"),
    },
    names=["Ada", "Bea"],
    notes={"shorn": True, "times": [1, 2.5, None]},
)


def test_state_comes_back_the_same() -> None:
    assert restored(Flock, json.loads(json.dumps(plain(FLOCK)))) == FLOCK


def test_sets_are_written_in_order() -> None:
    assert plain(Sheep("Ada", tags={"c", "a", "b"}))["tags"] == ["a", "b", "c"]  # type: ignore[index]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"name": 1},
        {"name": "Ada", "age": "3"},
        {"name": "Ada", "age": True},
        {"name": "Ada", "coat": "green"},
        {"name": "Ada", "wool": 1},
        {},
    ],
)
def test_what_is_something_else_is_refused(data: object) -> None:
    with pytest.raises(Unreadable):
        restored(Sheep, data)


def test_what_cannot_be_saved_is_an_error() -> None:
    with pytest.raises(TypeError, match="cannot be saved"):
        plain(object())
