"""The TOML reader agrees with `tomllib` on every value and knows where each stands."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from datetime import date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import ScalarNode, Unreadable, iter_scalars, to_plain_data

SAMPLE = '''# a comment
title = "x" # beside
count = 1_000
"quoted key" = 'literal'
dotted.key.here = true

[table]
when = 1979-05-27 07:32:00
day = 1979-05-27
hour = 07:32:00
long = """
line one
line "two" \\
   joined"""
raw = \'\'\'
C:\\new\'\'\'
list = [1, 2.5, # inside
  ["a", 'b'], {x = 1, y.z = "w"}]
hex = 0xFF
inf = -inf
million = 1_000_000.5

[[nodes]]
name = "a"
[nodes.vm]
version = 1.10
[[nodes]]
name = "b"
'''


def comparable(value: object) -> object:
    """What `tomllib` gives, in the terms of the tree: dates stay text."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return str(value) if isinstance(value, datetime | date | time) else value


def test_a_document_means_what_tomllib_says() -> None:
    expected = comparable(tomllib.loads(SAMPLE))
    assert isinstance(expected, dict)

    assert to_plain_data(read_toml("f.toml", SAMPLE)) == expected


def test_every_value_has_its_place_and_its_source_text() -> None:
    tree = read_toml("f.toml", SAMPLE)

    version = next(scalar_node for scalar_node in iter_scalars(tree) if scalar_node.text == "1.10")
    assert str(version.at) == "f.toml:26:11"
    assert SAMPLE[slice(*version.span)] == "1.10"


def test_windows_line_ends_do_not_move_places() -> None:
    text = 'a = 1\r\nb = """x\r\ny"""\r\nc = "z"\r\n'
    tree = read_toml("f.toml", text)

    assert to_plain_data(tree) == tomllib.loads(text)
    last = tree.get("c")
    assert isinstance(last, ScalarNode)
    assert str(last.at) == "f.toml:4:5"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a = 1\na = 2\n", "toml.duplicate-key", "f.toml:2:6"),
        ("[a]\n[a]\n", "toml.duplicate-key", "f.toml:2:3"),
        ("a = \n", "toml.syntax", "f.toml:1:5"),
        ('a = "x', "toml.syntax", "f.toml:1:7"),
        ("x = 1 2\n", "toml.syntax", "f.toml:1:7"),
        ("ok = 1\na = " + "9" * 5000, "toml.number", "f.toml:2:5"),
        ("a = " + "[" * 5000, "toml.too-deep", "f.toml:1:70"),
        (".".join(["a"] * 100) + " = 1\n", "toml.too-deep", "f.toml:1:129"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, code: str, place: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_toml("f.toml", text)

    assert (caught.value.problem.code, str(caught.value.problem.where)) == (code, place)


keys = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)
texts = st.text(
    alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=20
) | st.sampled_from(["#", "]", "}", "=", ",", "'", '"""', "a\nb", "\\"])


def written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, list):
        return "[" + ", ".join(written(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {written(item)}' for key, item in value.items()) + "}"
    return str(value)


values = st.recursive(
    texts | st.integers(-(2**40), 2**40) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(keys, values, max_size=6))
def test_any_document_means_what_tomllib_says(document: dict[str, object]) -> None:
    text = "".join(f'"{key}" = {written(value)} # note\n' for key, value in document.items())

    assert to_plain_data(read_toml("f.toml", text)) == tomllib.loads(text)


@given(st.text(alphabet="[]{}=.,#'\"\\ \n\tab01_-+:T", max_size=60))
def test_any_text_gives_a_tree_or_a_problem(text: str) -> None:
    with suppress(Unreadable):
        assert set(read_toml("f.toml", text).entries) == set(tomllib.loads(text))
