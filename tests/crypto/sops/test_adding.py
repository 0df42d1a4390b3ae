"""Values put at paths that have none yet."""

import pytest

from stockman.crypto.sops.files import decrypt, encrypt
from stockman.crypto.sops.paths import ValuePath, format_path, parse_path
from stockman.crypto.sops.scalars import SopsValue
from stockman.crypto.sops.selectors import EncryptionSettings
from stockman.crypto.sops.update import NewValue, set_plaintext_value, set_value
from stockman.crypto.sops.values import canonical_bytes
from stockman.model.errors import Refused
from tests.crypto.keys_at_hand import OWNER, fresh

YAML, JSON = "a.sops.yaml", "a.sops.json"


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("", ("a", "b"), "x", "a:\n  b: x\n"),
        ("a: 1\n", ("b",), "x", "a: 1\nb: x\n"),
        ("a: 1 # why", ("b",), "1", 'a: 1 # why\nb: "1"'),
        ("a:\n  x: 1\nb: 2\n", ("a", "y"), 3, 'a:\n  x: 1\n  "y": 3\nb: 2\n'),
        ("a:\n  x: 1\n", ("a", "k", "m"), True, "a:\n  x: 1\n  k:\n    m: true\n"),
        ("a: |\n  t\n\n# end\n", ("b",), "l\nm\n", "a: |\n  t\nb: |\n  l\n  m\n\n# end\n"),
        ("a:\nb: 2\n", ("a",), "v", "a: v\nb: 2\n"),
        ("a: null\n", ("a",), "v", "a: v\n"),
        ("a:\nb: 2\n", ("a", "k"), "v", "a:\n  k: v\nb: 2\n"),
        ("a: ~\nb: 2\n", ("a", "k"), "v", "a:\n  k: v\nb: 2\n"),
        ("a: {x: 1}\n", ("a", "k", "l"), "v", 'a: {x: 1, "k": {"l": "v"}}\n'),
        ("a: {}\n", ("a", "k"), "v", 'a: {"k": "v"}\n'),
        ("a:\n- b: 1\n", ("a", 0, "c"), "v", "a:\n- b: 1\n  c: v\n"),
        ("a: 1\n---\nb: 2\n", ("c",), "v", "a: 1\nc: v\n---\nb: 2\n"),
        ("---\na: 1\n...\n", ("c",), "v", "---\na: 1\nc: v\n...\n"),
        ("a: 1\n", (8080,), "v", 'a: 1\n"8080": v\n'),
        ("a: 1\n", ("b: c",), "v", 'a: 1\n"b: c": v\n'),
    ],
)
def test_keys_are_added_where_they_belong(
    before: str, path: ValuePath, value: SopsValue, after: str
) -> None:
    new = NewValue(path=path, value=value)

    assert set_plaintext_value(before.encode(), YAML, new).decode() == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("", ("a", "b"), '{"a": {"b": "v"}}\n'),
        ("{}", ("a",), '{"a": "v"}'),
        ('{\n\t"a": 1\n}\n', ("b",), '{\n\t"a": 1,\n\t"b": "v"\n}\n'),
        ('{"a": {"b": 1}}', ("a", "c"), '{"a": {"b": 1, "c": "v"}}'),
    ],
)
def test_json_is_extended_too(before: str, path: ValuePath, after: str) -> None:
    new = NewValue(path=path, value="v")

    assert set_plaintext_value(before.encode(), JSON, new).decode() == after


@pytest.mark.parametrize(
    ("before", "path", "why"),
    [
        ("a: 3\n", ("a", "x"), "a is one value"),
        ("a: [1]\n", ("a", 5), "a is a list"),
        ("a: {b: 1}\n", ("a",), "a mapping or a list stands there"),
        ("a: 1\n", ("sops", "mac"), "SOPS keeps its keys"),
    ],
)
def test_what_has_no_room_is_refused(before: str, path: ValuePath, why: str) -> None:
    with pytest.raises(Refused, match=r"sops\.no-place") as caught:
        set_plaintext_value(before.encode(), YAML, NewValue(path=path, value="canary"))

    assert why in caught.value.problem.why
    assert "canary" not in str(caught.value.problem)


def test_a_binary_file_has_no_paths() -> None:
    with pytest.raises(Refused, match=r"sops\.no-place"):
        set_plaintext_value(b"x", "a.sops.bin", NewValue(path=("a",), value="x"))


@pytest.mark.parametrize("path", [("a",), ("b", "c"), ("none",), ("list", 1)])
def test_every_other_value_keeps_its_ciphertext(path: ValuePath) -> None:
    plain = b"a: 1\nb:\n  d: x\nnone:\nlist:\n  - p\n  - q\n"
    content = encrypt(plain, YAML, EncryptionSettings(recipients=(OWNER.recipient,)), fresh())
    new = NewValue(path=path, value="new value")

    value = set_value(content, YAML, new, [OWNER], fresh("later"))

    gone = set(content.splitlines()) - set(value.splitlines())
    assert len([line for line in gone if b"ENC[" in line and b"mac:" not in line]) <= 1
    assert b"new value" in decrypt(value, YAML, [OWNER])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"a: x\n", b"a:   'x'\n"),
        (b"a: {b: 1}\n", b"a:\n  b: 1\n"),
        (b"a: 1\n", b"a: 0x1\n"),
    ],
)
def test_layout_has_no_meaning(one: bytes, other: bytes) -> None:
    assert canonical_bytes(one, YAML) == canonical_bytes(other, YAML)


@pytest.mark.parametrize(
    "other",
    [b"a: 2\nb: 2\n", b"a: '1'\nb: 2\n", b"b: 2\na: 1\n", b"a: 1\nc: 2\n", b"a: 1\n# c\nb: 2\n"],
)
def test_values_kinds_keys_order_and_comments_have(other: bytes) -> None:
    assert canonical_bytes(b"a: 1\nb: 2\n", YAML) != canonical_bytes(other, YAML)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", ("a",)),
        ("a.b[0]", ("a", "b", 0)),
        ("a.b.0", ("a", "b", 0)),
        ('data["tls.crt"]', ("data", "tls.crt")),
        ("data['tls.crt'].x", ("data", "tls.crt", "x")),
        ('["a"]["b.c"][1]', ("a", "b.c", 1)),
        ("007", ("007",)),
        ('["7"]', ("7",)),
    ],
)
def test_paths_are_read_and_written(text: str, path: ValuePath) -> None:
    assert parse_path(text) == path
    assert parse_path(format_path(path)) == path


@pytest.mark.parametrize("text", ["", ".", "a..b", "a.", ".a", "a[", "a]", 'a["x', "a[x]", "a[0]b"])
def test_what_is_no_path_says_why(text: str) -> None:
    with pytest.raises(ValueError, match=r"it"):
        parse_path(text)
