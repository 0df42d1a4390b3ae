"""What a request asks for."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.http.messages import Request, Upload
from stockman_lab.http.parsing import (
    BadBody,
    Parameters,
    decoded_form,
    decoded_json,
    parameters,
    path_of,
)

FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/json; charset=utf-8"}


def asked(method: str, target: str, headers: dict[str, str], body: bytes) -> Parameters:
    return parameters(Request(method, target, headers, body, "", True))


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("", {}),
        ("a=1", {"a": "1"}),
        ("a=1;b=2", {"a": "1", "b": "2"}),
        ("a=1&a=2&a=3", {"a": ["1", "2", "3"]}),
        ("a=x+y%20z%2B", {"a": "x y z+"}),
        ("a=%C3%A9", {"a": "é"}),
        ("a=%ff", {"a": "\ufffd"}),
        ("a=%zz%4", {"a": "%zz%4"}),
        ("net%5B0%5D=x", {"net[0]": "x"}),
        ("a=%00", {"a": "\x00"}),
        ("a", {"a": None}),
        ("a=", {"a": ""}),
        ("a=1&a=", {"a": ["1", ""]}),
        ("a=&a=1", {"a": ["", "1"]}),
        ("a=b=c", {"a": "b"}),
        ("a==c", {"a": ""}),
        ("a=1&&b=2&", {"a": "1", "": None, "b": "2"}),
        ("&&", {}),
        ("=x", {"": "x"}),
    ],
)
def test_a_form_is_read_as_the_real_server_reads_it(text: str, parameters: Parameters) -> None:
    assert decoded_form(text) == parameters


def test_a_raw_form_may_hold_utf_8() -> None:
    assert asked("POST", "/", FORM, "a=é".encode()) == {"a": "é"}


@given(body=st.binary())
def test_any_body_is_a_form_of_some_kind(body: bytes) -> None:
    assert all(isinstance(name, str) for name in asked("POST", "/", {}, body))


def test_the_query_wins_over_the_body() -> None:
    assert asked("POST", "/?a=query&c=3", FORM, b"a=body&b=2") == {
        "a": "query",
        "b": "2",
        "c": "3",
    }
    assert asked("PUT", "/?a=query", JSON, b'{"a": 1, "b": [true]}') == {"a": "query", "b": [True]}


def test_only_the_query_of_a_read_counts() -> None:
    assert asked("GET", "/?a=1", FORM, b"b=2") == {"a": "1"}
    assert asked("DELETE", "/?a=1", FORM, b"b=2") == {"a": "1"}


def test_what_keeps_caches_away_is_dropped() -> None:
    assert asked("GET", "/?_dc=123&a=1", {}, b"") == {"a": "1"}


def test_an_upload_is_its_fields_and_its_file_name() -> None:
    upload = Upload({"content": "iso"}, "a.iso", Path("a"), 1)
    request = Request("POST", "/?content=vztmpl&node=a", {}, b"", "", True, upload=upload)

    assert parameters(request) == {"content": "iso", "node": "a", "filename": "a.iso"}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", 'at character offset 0 (before "(end of string)")'),
        (b"{", "malformed JSON string"),
        (b'{"a": NaN}', "malformed JSON string"),
        (b"[1]", "Not a HASH reference"),
        (b"1", "Not a HASH reference"),
        (b'"\xff"', "malformed UTF-8 character in JSON string, at character offset 1"),
        (b'{"a": "\\ud800"}', "missing low surrogate character in surrogate pair"),
        (b'{"a": ' + b"9" * 5000 + b"}", "malformed JSON string"),
        (b"[" * 100_000, "exceeds maximum nesting level"),
        ('{"a": 1}'.encode("utf-16"), "malformed UTF-8 character"),
    ],
)
def test_a_broken_json_body_is_refused(body: bytes, text: str) -> None:
    with pytest.raises(BadBody) as refused:
        decoded_json(body)

    assert text in str(refused.value)


def test_null_is_a_body_without_parameters() -> None:
    assert decoded_json(b"null") == {}


def test_pairs_of_surrogates_are_one_character() -> None:
    assert decoded_json(rb'{"a": "\ud83d\ude00"}') == {"a": "\U0001f600"}


@given(body=st.binary() | st.recursive(st.text(), st.lists).map(lambda it: json.dumps(it).encode()))
def test_a_json_body_is_read_or_refused(body: bytes) -> None:
    with suppress(BadBody):
        parameters = decoded_json(body)

        assert json.loads(json.dumps(parameters, ensure_ascii=False).encode()) == parameters


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/api2/json/a?b=/c", "/api2/json/a"),
        ("/content/local:iso%2Fa.iso", "/content/local:iso/a.iso"),
        ("/a%C3%A9%ff", "/aé\ufffd"),
        ("/a+b#c", "/a+b"),
        ("https://pve1:8006/a?b", "/a"),
        ("*", "*"),
        ("/a/../%2e%2e/b", "/a/../../b"),
    ],
)
def test_a_path_is_decoded_before_anybody_looks_at_it(target: str, path: str) -> None:
    assert path_of(target) == path
