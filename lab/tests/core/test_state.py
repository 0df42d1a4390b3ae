"""Parts of the state are built, compared, changed and described like any dataclass."""

from __future__ import annotations

from dataclasses import field, fields, is_dataclass, replace

import pytest
from stockman_lab.core.saved import plain, restored
from stockman_lab.core.state import state


@state
class Sheep:
    """Something that has wool."""

    name: str
    wool: float = 1.5
    lambs: list[str] = field(default_factory=list)


@state
class Ram(Sheep):
    """A sheep that must have horns."""

    horns: int = 2

    def __post_init__(self) -> None:
        if self.horns < 0:
            raise ValueError("horns cannot be fewer than none")


def test_values_are_given_by_position_or_name_and_have_defaults() -> None:
    assert Sheep("Ada", 2.0) == Sheep(name="Ada", wool=2.0)
    assert Sheep("Ada").lambs == []
    assert Sheep("Ada").lambs is not Sheep("Ada").lambs


def test_it_can_be_changed_and_is_compared_by_value() -> None:
    ada = Sheep("Ada")
    ada.wool = 0.0
    assert ada != Sheep("Ada")
    assert ada == Sheep("Ada", 0.0)
    assert Ram("Ada") != Sheep("Ada")


def test_what_changes_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Sheep("Ada"))


@pytest.mark.parametrize(
    ("values", "named", "why"),
    [
        ((), {}, "Sheep needs name"),
        (("Ada", 1.0, [], 4), {}, "Sheep has 3 fields, not 4"),
        (("Ada",), {"horns": 2}, "Sheep has no horns"),
        (("Ada",), {"name": "Bob"}, "Sheep is given name twice"),
    ],
)
def test_wrong_values_are_refused(
    values: tuple[object, ...], named: dict[str, object], why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        Sheep(*values, **named)  # type: ignore[arg-type]


def test_what_is_inherited_comes_first_and_is_looked_at_last() -> None:
    assert [schema_field.name for schema_field in fields(Ram)] == ["name", "wool", "lambs", "horns"]
    with pytest.raises(ValueError, match="fewer than none"):
        Ram("Bob", horns=-1)


def test_it_is_a_dataclass_to_everybody_else() -> None:
    ada = Sheep("Ada", lambs=["Eve"])
    assert is_dataclass(ada)
    assert replace(ada, wool=3.0) == Sheep("Ada", 3.0, ["Eve"])
    assert restored(Sheep, plain(ada)) == ada
    assert repr(ada) == "Sheep(name='Ada', wool=1.5, lambs=['Eve'])"
