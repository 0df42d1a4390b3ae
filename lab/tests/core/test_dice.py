"""The same seed throws the same."""

from __future__ import annotations

from uuid import UUID

from stockman_lab.core.dice import Dice


def test_the_same_seed_throws_the_same() -> None:
    dice, other = Dice(seed=7), Dice(seed=7)
    assert [dice.below(1000) for _ in range(50)] == [other.below(1000) for _ in range(50)]


def test_another_seed_throws_otherwise() -> None:
    assert Dice(seed=1).random_bytes(32) != Dice(seed=2).random_bytes(32)


def test_saved_dice_go_on_where_they_were() -> None:
    dice = Dice(seed=3)
    dice.random_bytes(100)
    again = Dice(seed=3, thrown=dice.thrown)
    assert again.random_bytes(10) == dice.random_bytes(10)


def test_bytes_are_as_many_as_asked_for() -> None:
    assert [len(Dice(seed=1).random_bytes(count)) for count in (0, 1, 32, 33, 100)] == [
        0, 1, 32, 33, 100,
    ]  # fmt: skip


def test_numbers_stay_in_their_range() -> None:
    dice = Dice(seed=5)
    assert all(0 <= dice.below(6) < 6 for _ in range(200))
    assert all(15 <= dice.between(15, 40) <= 40 for _ in range(200))
    assert {dice.one_of("abc") for _ in range(100)} == set("abc")


def test_uuids_are_of_version_four() -> None:
    assert UUID(Dice(seed=9).uuid()).version == 4
