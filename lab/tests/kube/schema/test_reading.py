"""Bodies that are JSON are read; of others Go's words are said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.kube.schema.reading import Unreadable, complaint, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_json_is_read(value: object) -> None:
    text = json.dumps(value)

    assert read_json(text.encode()) == value
    assert complaint(text) == ""


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        ('"abc', "unexpected end of JSON input"),
        ("xx", "invalid character 'x' looking for beginning of value"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("{'a':1}", r"invalid character '\'' looking for beginning of object key string"),
        ('{"a" "b"}', "invalid character '\"' after object key"),
        ('{"a":1 "b":2}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ('{"a":tru}', "invalid character '}' in literal true (expecting 'e')"),
        ('{"a":1}x', "invalid character 'x' after top-level value"),
        ('{"a":"\n"}', r"invalid character '\n' in string literal"),
        (r'{"a":"\x"}', "invalid character 'x' in string escape code"),
        (r'{"a":"\u00g"}', r"invalid character 'g' in \u hexadecimal character escape"),
        ('{"a":1.}', "invalid character '}' after decimal point in numeric literal"),
        ('{"a":1e}', "invalid character '}' in exponent of numeric literal"),
        ("-", "invalid character ' ' in numeric literal"),
        ('{"a":NaN}', "invalid character 'N' looking for beginning of value"),
    ],
)
def test_what_is_not_json_is_refused_as_go_does_it(body: str, why: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_json(body.encode())

    assert str(refused.value) == why


def test_what_is_too_deep_is_refused() -> None:
    with pytest.raises(Unreadable, match="exceeded max depth"):
        read_json(b"[" * 100_000)
