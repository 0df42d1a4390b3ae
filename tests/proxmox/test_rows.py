"""Answers made records."""

from __future__ import annotations

from typing import Literal

import pytest

from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.proxmox.rows import UnexpectedAnswer, read_record, row_list


@record
class Thing:
    """A record with every kind of field."""

    name: str
    vmid: Vmid = Vmid(0)
    share: float = 0.0
    on: bool = False
    tags: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    content: frozenset[str] = frozenset()
    size: int | None = None
    kind: Literal["a", "b"] = "a"


@pytest.mark.parametrize("value", [7, "7", 7.0, "7.0"])
def test_numbers_come_in_any_form(value: object) -> None:
    assert read_record(Thing, {"name": "x", "vmid": value, "size": value}) == Thing(
        name="x", vmid=Vmid(7), size=7
    )


@pytest.mark.parametrize("value", [1, "1", True, "on", "yes"])
def test_yes_comes_in_any_form(value: object) -> None:
    assert read_record(Thing, {"name": "x", "on": value}).on is True


@pytest.mark.parametrize("value", ["a,b", "a;b", "a b", ["a", "b"]])
def test_lists_come_in_any_form(value: object) -> None:
    record = read_record(Thing, {"name": "x", "tags": value, "content": value})

    assert (record.tags, record.content) == (("a", "b"), frozenset({"a", "b"}))


def test_unknown_fields_are_ignored_and_null_is_nothing() -> None:
    assert read_record(Thing, {"name": "x", "news": {}, "size": None}) == Thing(name="x")


def test_texts_come_as_numbers_too() -> None:
    assert read_record(Thing, {"name": 9000, "share": "0.25", "numbers": "1,2"}) == Thing(
        name="9000", share=0.25, numbers=(1, 2)
    )


def test_fields_that_the_server_calls_otherwise_are_found() -> None:
    assert (
        read_record(Thing, {"id": "x", "maxdisk": 5}, {"name": "id", "size": "maxdisk"}).size == 5
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([], "expected an object, got a list"),
        ({}, "name is missing"),
        ({"name": []}, "name: expected a text, got a list"),
        ({"name": "x", "vmid": "many"}, "vmid: expected a number, got a text"),
        ({"name": "x", "vmid": {}}, "vmid: "),
        ({"name": "x", "share": "much"}, "share: expected a number"),
        ({"name": "x", "on": "perhaps"}, "on: expected a boolean"),
        ({"name": "x", "kind": "c"}, "kind: 'c' is not one of a, b"),
        ({"name": "x", "size": "1e999.0"}, "size: expected a number"),
    ],
)
def test_what_does_not_fit_is_told(row: object, why: str) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        read_record(Thing, row)
    assert why in str(caught.value)


def test_no_list_is_an_empty_one() -> None:
    assert row_list(None) == []


@pytest.mark.parametrize("value", [{}, "x", [1]])
def test_other_things_are_no_lists_of_objects(value: object) -> None:
    with pytest.raises(UnexpectedAnswer):
        row_list(value)
