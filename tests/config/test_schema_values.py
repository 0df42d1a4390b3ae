"""Values in schemas: whatever the reader takes, an editor has to take as well."""

import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from stockman.config.record_reader import ReadContext, read_record
from stockman.config.reference.key_types import BASE_TYPES, ListOf, MapOf, ValueType
from stockman.config.reference.schema import anchor_pattern, value_schema
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.model.formats import Between, TextFormat
from stockman.model.origin import Position
from stockman.model.problem import Problems
from tests.config.language import SPELLED, VALUES, holder

AT = Position("nodes.yaml", 1, 1)
CIPHERTEXT = "ENC[AES256_GCM,data:p673w==,iv:YY=,tag:UQ=,type:str]"
LOOKALIKES = ["", "0", "007", "-1", "1.10", "1e3", "0x1f", "true", "No", "~", "null", "1_000"]


@cache
def judge(value: ValueType, *, null: bool = False) -> Draft202012Validator:
    return Draft202012Validator(value_schema(value, null=null))


def named(value: ValueType) -> str:
    return value.shape.description if value.shape is not None else value.base.__name__


def scalar(text: str, *, plain: bool) -> ScalarNode:
    return ScalarNode(text, AT, plain=plain, span=(0, 0))


def is_read(value: ValueType, node: ScalarNode) -> bool:
    """Whether the reader of files takes a value without a word."""
    cls, member = holder(value)
    held: TreeNode = node
    if isinstance(member.type, ListOf):
        held = SequenceNode(AT, [node])
    elif isinstance(member.type, MapOf):
        held = MappingNode(AT, {"a": MappingEntry(scalar("a", plain=True), node)})
    reading = ReadContext(Problems())
    reading.partial = True
    entries = {member.name: MappingEntry(scalar(member.name, plain=True), held)}
    read_record(cls, MappingNode(AT, entries), reading)
    return not reading.problems


@cache
def spellings(value: ValueType) -> st.SearchStrategy[str]:
    """Texts that fit, texts that nearly do, and texts that editors take for something else."""
    pattern = value.shape.pattern if value.shape is not None else BASE_TYPES[value.base].pattern
    ascii_only = st.characters(max_codepoint=126, min_codepoint=32)
    fitting = st.from_regex(pattern, fullmatch=True, alphabet=ascii_only)
    choices = [st.sampled_from(value.choices)] if value.choices else []
    return st.one_of(
        *choices,
        fitting,
        fitting.map(str.upper),
        st.sampled_from(LOOKALIKES),
        st.integers(-5, 70_000).map(str),
        st.text(ascii_only, max_size=12),
    )


@pytest.mark.parametrize("value", SPELLED, ids=named)
@settings(max_examples=15)
@given(data=st.data())
def test_a_value_that_the_reader_takes_fits_the_schema(
    value: ValueType, data: st.DataObject
) -> None:
    node = scalar(data.draw(spellings(value)), plain=data.draw(st.booleans()))

    assert not is_read(value, node) or judge(value, null=True).is_valid(to_plain_data(node))


def test_every_example_is_read_and_fits() -> None:
    examples = [(value, example) for value in VALUES for example in value.examples]

    unread = [one for value, one in examples if not is_read(value, scalar(one, plain=False))]
    unfit = [one for value, one in examples if not judge(value).is_valid(one)]
    assert (unread, unfit) == ([], [])


def test_any_value_may_be_encrypted() -> None:
    assert [value for value in VALUES if not judge(value).is_valid(CIPHERTEXT)] == []


def test_null_fits_only_where_a_key_may_be_absent() -> None:
    assert [value for value in VALUES if not judge(value, null=True).is_valid(None)] == []
    assert [value for value in VALUES if judge(value, null=False).is_valid(None)] == []


@pytest.mark.parametrize("wrong", [[], {}, ["x"], {"a": "b"}])
def test_a_list_or_mapping_is_no_value(wrong: object) -> None:
    assert [value for value in VALUES if judge(value, null=True).is_valid(wrong)] == []


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (ValueType(int), "four"),
        (ValueType(int), 4.5),
        (ValueType(int), True),
        (ValueType(int), "04"),
        (ValueType(int, limits=Between(1, 9)), 10),
        (ValueType(bool), "yes"),
        (ValueType(bool), 1),
        (ValueType(str, choices=("a", "b")), "c"),
        (ValueType(str, TextFormat("digits and a unit", r"\d+m", "5m")), 5),
        (ValueType(str, TextFormat("digits and a unit", r"\d+m", "5m")), "x5m"),
        (ValueType(str, TextFormat("digits and a unit", r"\d+m", "5m")), "5ms"),
    ],
)
def test_what_the_reader_would_not_take_does_not_fit(value: ValueType, wrong: object) -> None:
    assert not judge(value).is_valid(wrong)


def test_choices_are_listed_for_editors() -> None:
    schema = value_schema(ValueType(str, choices=("a", "b")), null=True)

    assert schema["anyOf"][0] == {"enum": ["a", "b", None]}


def test_a_pattern_that_fails_is_told_in_words() -> None:
    assert value_schema(ValueType(int), null=False)["patternErrorMessage"] == (
        "This is not a whole number."
    )


def test_patterns_keep_to_what_python_and_ecma_script_share() -> None:
    patterns = {value_schema(value, null=False).get("pattern", "") for value in VALUES}

    assert [pattern for pattern in patterns if re.search(r"\(\?[P<#\w]|\\[AZzbB]", pattern)] == []


def test_a_pattern_is_one_for_the_whole_text() -> None:
    assert anchor_pattern("a|b") == "^(?:a|b)$"
