from dataclasses import field, make_dataclass

from tools.digest import digest

EARLIER = make_dataclass("Thing", [("name", str)])
LATER = make_dataclass("Thing", [("name", str), ("extras", tuple, field(default=()))])


def test_a_new_field_that_keeps_its_default_changes_nothing() -> None:
    assert digest(LATER(name="a")) == digest(EARLIER(name="a"))
    assert digest((LATER(name="a"),)) == digest((EARLIER(name="a"),))


def test_a_new_field_that_is_used_counts() -> None:
    assert digest(LATER(name="a", extras=("b",))) != digest(EARLIER(name="a"))


def test_values_are_told_apart_by_field_and_by_kind() -> None:
    dataclass = make_dataclass("Other", [("name", str)])

    names = {digest(EARLIER(name="a")), digest(EARLIER(name="b")), digest(dataclass(name="a"))}

    assert len(names) == 3
