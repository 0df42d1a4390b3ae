"""Property strings: read by a format, printed in one order."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.property_string import Format, Property, parse, print_properties
from stockman_lab.pve.formats.sizes import parse_size

CAKE: Format = {
    "kind": Property(required=True, default_key=True),
    "flour": Property(required=True),
    "eggs": Property(kind="integer", minimum=1, maximum=12),
    "sweet": Property(kind="boolean"),
    "taste": Property(enum=("good", "better")),
    "sugar": Property(alias="sweet"),
    "lemon": Property(alias="flour", kept_in="taste"),
    "name": Property(pattern="[a-z]+", longest=5),
    "price": Property(kind="number", requires="name"),
    "size": Property(is_size=True, check=parse_size),
}


def test_the_default_key_is_bare_then_required_keys_then_others_by_name() -> None:
    values = parse(CAKE, "sweet=yes,eggs=3,name=pie,flour=rye,tart")

    assert values == {"sweet": "1", "eggs": "3", "name": "pie", "flour": "rye", "kind": "tart"}
    assert print_properties(CAKE, values) == "tart,flour=rye,eggs=3,name=pie,sweet=1"


def test_the_default_key_may_be_written_out() -> None:
    assert parse(CAKE, "kind=tart,flour=rye") == parse(CAKE, "tart,flour=rye")


@pytest.mark.parametrize("word", ["1", "on", "Yes", "TRUE"])
def test_many_words_are_true(word: str) -> None:
    assert parse(CAKE, f"tart,flour=rye,sweet={word}")["sweet"] == "1"


@pytest.mark.parametrize("word", ["0", "off", "No", "FALSE"])
def test_many_words_are_false(word: str) -> None:
    assert parse(CAKE, f"tart,flour=rye,sweet={word}")["sweet"] == "0"


def test_an_alias_is_the_key_that_it_stands_for() -> None:
    assert parse(CAKE, "tart,flour=rye,sugar=1") == parse(CAKE, "tart,flour=rye,sweet=1")


def test_sizes_are_printed_by_the_size_formatter() -> None:
    values = {"kind": "tart", "flour": "rye", "size": str(32 << 30)}

    assert print_properties(CAKE, values) == "tart,flour=rye,size=32G"


def test_empty_parts_are_nothing() -> None:
    assert parse(CAKE, ",tart,, ,flour=rye,") == {"kind": "tart", "flour": "rye"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b", "duplicate key in comma-separated list property: kind"),
        ("kind=a,b", "duplicate key in comma-separated list property: kind"),
        ("a,eggs=1,eggs=2", "duplicate key in comma-separated list property: eggs"),
        ("a,sweet=1,sugar=1", "key 'sweet' is already defined (via alias)"),
        ("a,taste=good,lemon=rye", "key alias 'taste' is already defined"),
        ("a,=b", "missing key in comma-separated list property"),
        ("a,eggs=", "missing key in comma-separated list property"),
    ],
)
def test_what_is_written_twice_or_without_a_key_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse(CAKE, text)

    assert refused.value.text == f"{complaint}\n"


def test_a_bare_value_needs_a_format_with_a_default_key() -> None:
    complaint = "value without key, but schema does not define a default key"
    with pytest.raises(FormatError, match=complaint):
        parse({"eggs": Property()}, "3")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a", "flour: property is missing and it is not optional"),
        ("a,flour=x,eggs=x", "eggs: type check ('integer') failed - got 'x'"),
        ("a,flour=x,eggs=0", "eggs: value must have a minimum value of 1"),
        ("a,flour=x,eggs=13", "eggs: value must have a maximum value of 12"),
        ("a,flour=x,sweet=maybe", "sweet: type check ('boolean') failed - got 'maybe'"),
        ("a,flour=x,name=X", "name: value does not match the regex pattern"),
        ("a,flour=x,name=abcdef", "name: value may only be 5 characters long"),
        ("a,flour=x,price=1.5", "name: missing property required by 'price'"),
        ("a,flour=x,price=1,name=a,price2=1", "price2: " + "property is not defined in schema and "
         "the schema does not allow additional properties"),
        ("a,flour=x,taste=bad",
         "taste: value 'bad' does not have a value in the enumeration 'good, better'"),
        ("a,flour=x,size=4Q",
         "size: invalid format - value does not look like a valid disk size: 4Q\n"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_by_name(text: str, complaint: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse(CAKE, text)

    assert refused.value.text == f"format error\n{complaint}\n"


def test_all_wrong_values_are_named_with_the_parameter_before_them() -> None:
    with pytest.raises(FormatError) as refused:
        parse(CAKE, "a,eggs=x", path="cake0")

    assert refused.value.parameter_text == (
        "invalid format - format error\n"
        "cake0.eggs: type check ('integer') failed - got 'x'\n"
        "cake0.flour: property is missing and it is not optional\n"
    )


def test_skipped_keys_are_read_over() -> None:
    assert parse(CAKE, "a,flour=x,cyls=3", skip={"cyls"}) == {"kind": "a", "flour": "x"}


def test_a_comma_cannot_be_printed() -> None:
    with pytest.raises(FormatError, match="illegal value with commas for flour"):
        print_properties(CAKE, {"kind": "a", "flour": "x,y"})


def test_an_unknown_key_cannot_be_printed() -> None:
    with pytest.raises(FormatError, match="invalid key 'salt'"):
        print_properties(CAKE, {"kind": "a", "flour": "x", "salt": "1"})


def test_a_bare_value_replaces_a_default_key_that_is_zero() -> None:
    known: Format = {"on": Property(kind="boolean", default_key=True)}

    assert parse(known, "on=0,1") == {"on": "1"}
