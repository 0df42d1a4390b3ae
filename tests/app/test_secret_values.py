"""Values of secret files by their paths."""

from pathlib import Path

import pytest

from stockman.app.secrets.store import SecretStore
from stockman.app.secrets.values import (
    paths_in,
    put_all,
    put_value,
    read_all,
    read_text_at,
    read_value_at,
)
from stockman.model.errors import NotFound, Refused, WrongUsage
from tests.app.secret_workspace import WHOLE, store_in

PLAIN = b"""\
a: canary
b:
  # a note
  - 1
  - true
  - x.y: 1.5
tls.crt: |
  one
  two
none:
when: 2026-01-02
"""


@pytest.fixture
def store(tmp_path: Path) -> SecretStore:
    secret_store = store_in(tmp_path)
    secret_store.write(WHOLE, PLAIN)
    return secret_store


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a", b"canary"),
        ("b[0]", b"1"),
        ("b.1", b"true"),
        ('b[2]["x.y"]', b"1.5"),
        ('["tls.crt"]', b"one\ntwo\n"),
        ("none", b"null"),
        ("when", b"2026-01-02T00:00:00Z"),
    ],
)
def test_a_value_is_found_by_its_path(store: SecretStore, path: str, text: bytes) -> None:
    assert read_text_at(store, WHOLE, path) == text


def test_everything_comes_as_data(store: SecretStore) -> None:
    assert read_all(store, WHOLE) == {
        "a": "canary",
        "b": [1, True, {"x.y": 1.5}],
        "tls.crt": "one\ntwo\n",
        "none": None,
        "when": "2026-01-02T00:00:00Z",
    }
    assert read_value_at(store, WHOLE, "b[2]") == {"x.y": 1.5}


def test_paths_are_listed_as_they_are_typed_and_without_values(store: SecretStore) -> None:
    paths = paths_in(store, WHOLE, None)

    assert paths == ("a", "b[0]", "b[1]", 'b[2]["x.y"]', '["tls.crt"]', "none", "when")
    assert all(read_text_at(store, WHOLE, path) for path in paths)
    assert paths_in(store, WHOLE, "b[2]") == ('b[2]["x.y"]',)


@pytest.mark.parametrize("path", ["missing", "a.b", "b[9]", "b.x", "sops", "sops.mac"])
def test_what_is_not_there_is_not_found(store: SecretStore, path: str) -> None:
    for call in (read_text_at, read_value_at):
        with pytest.raises(NotFound, match=r"sops\.no-value"):
            call(store, WHOLE, path)


@pytest.mark.parametrize("path", ["", "a..b", "a[", "[1", "a.", '["x]'])
def test_what_is_no_path_is_wrong_usage(store: SecretStore, path: str) -> None:
    with pytest.raises(WrongUsage, match=r"secret\.path"):
        read_text_at(store, WHOLE, path)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"word\n", b"word"),
        (b"word\r\n", b"word"),
        (b"word", b"word"),
        (b"two\nlines\n", b"two\nlines\n"),
        (b"  spaces \n", b"  spaces "),
        (b"", b""),
        ("ÄÖ\n".encode(), "ÄÖ".encode()),
    ],
)
def test_the_line_break_behind_one_line_is_not_part_of_a_value(
    store: SecretStore, content: bytes, kept: bytes
) -> None:
    put_value(store, WHOLE, "a", content)

    assert read_text_at(store, WHOLE, "a") == kept


@pytest.mark.parametrize(("content", "data"), [(b"3", 3), (b"true", True), (b'"x"', "x")])
def test_json_gives_numbers_and_flags(store: SecretStore, content: bytes, data: object) -> None:
    put_value(store, WHOLE, "new.value", content, as_json=True)

    assert read_value_at(store, WHOLE, "new.value") == data


@pytest.mark.parametrize("content", [b"canary", b"null", b"[1]", b"{}", b"99999999999999999999"])
def test_json_that_is_no_value_is_refused_and_not_quoted(
    store: SecretStore, content: bytes
) -> None:
    with pytest.raises(Refused, match=r"secret\.value") as caught:
        put_value(store, WHOLE, "a", content, as_json=True)

    assert content.decode() not in str(caught.value.problem)


def test_bytes_that_are_no_text_are_refused_as_a_value(store: SecretStore) -> None:
    with pytest.raises(Refused, match=r"secret\.value"):
        put_value(store, WHOLE, "a", b"\xff\xfe")


@pytest.mark.parametrize("path", ["a.below", "b", "b[7]", "sops.x"])
def test_a_value_does_not_take_the_place_of_something_else(store: SecretStore, path: str) -> None:
    before = store.content(WHOLE)

    with pytest.raises(Refused, match=r"sops\.no-place"):
        put_value(store, WHOLE, path, b"canary")

    assert store.content(WHOLE) == before


def test_a_bundle_is_not_replaced_by_something_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"bundle\.missing"):
        put_all(store_in(tmp_path), "talos/talsecret.sops.yaml", b"a: 1\n")


def test_whole_contents_are_put(store: SecretStore) -> None:
    assert put_all(store, WHOLE, b"only: 1\n") is True
    assert put_all(store, WHOLE, b"only: 1\n") is False
    assert read_all(store, WHOLE) == {"only": 1}
