"""Secrets inside of records."""

from __future__ import annotations

from dataclasses import field

from stockman.model.origin import Origin, Position, Traced
from stockman.model.record import record
from stockman.model.secret import Secret, find_secrets


@record
class Door(Traced):
    key: Secret
    spare: tuple[Secret, ...] = ()


@record
class House:
    doors: dict[str, Door]
    number: int = 1
    name: str = "house"
    hidden: Secret = field(default=Secret("x"), metadata={"shown": False})


def names(value: object) -> list[tuple[str, str]]:
    return [(name, secret.reveal()) for name, secret in find_secrets(value)]


def test_secrets_are_named_by_the_way_to_them() -> None:
    house = House(doors={"front": Door(key=Secret("a"), spare=(Secret("b"), Secret("c")))})

    assert names(house) == [
        ("doors.front.key", "a"),
        ("doors.front.spare[0]", "b"),
        ("doors.front.spare[1]", "c"),
    ]


def test_the_name_that_the_user_gave_comes_first() -> None:
    origin = Origin(name="front_key", at=Position(file="cluster.yaml", line=1, column=1))

    assert names(Door(key=Secret("a"), origins={"key": origin})) == [("front_key", "a")]


def test_a_secret_alone_has_the_name_that_it_is_given() -> None:
    assert [name for name, _ in find_secrets(Secret("a"), "token")] == ["token"]
    assert names(["text", 1, None, True]) == []
