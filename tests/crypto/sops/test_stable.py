"""Ciphertext that stays: the second run changes nothing, one change changes one value."""

from datetime import timedelta

import pytest

from stockman.crypto.sops.files import decrypt, encrypt, open_file
from stockman.crypto.sops.scalars import SopsValue
from stockman.crypto.sops.selectors import EncryptionSettings
from stockman.crypto.sops.update import NewValue, reencrypt, set_existing_value, value_at
from stockman.model.errors import NotFound
from tests.crypto.generated import made
from tests.crypto.keys_at_hand import NOON, OWNER, fresh, vector

RECIPE = EncryptionSettings(recipients=(OWNER.recipient,))
PLAIN = b"# flock\na: wool\nb:\n  c: wool # soft\n  d: 12\nlist:\n  # first\n  - x\n  - z\n"
CONTENT = encrypt(PLAIN, "a.sops.yaml", RECIPE, fresh())
LATER = NOON + timedelta(days=1)


def changed(plain: bytes, content: bytes = CONTENT, name: str = "a.sops.yaml") -> bytes:
    return reencrypt(content, plain, name, [OWNER], fresh("later", LATER))


def differing(one: bytes, other: bytes) -> list[str]:
    before, after = one.decode().splitlines(), other.decode().splitlines()
    assert len(before) == len(after)
    pairs = zip(before, after, strict=True)
    return [old.strip().partition(":")[0] for old, new in pairs if old != new]


def test_the_same_plaintext_gives_the_same_bytes() -> None:
    assert changed(PLAIN) == CONTENT


def test_another_layout_of_the_same_values_gives_the_same_bytes() -> None:
    plain = (
        b'# flock\n"a": "wool"\nb:\n    c: "wool"  # soft\n    d: 0xc\nlist:\n# first\n- x\n- z\n'
    )

    assert changed(plain) == CONTENT


def test_one_value_changes_itself_the_check_sum_and_the_time() -> None:
    made_new = changed(PLAIN.replace(b"d: 12", b"d: 13"))

    assert differing(CONTENT, made_new) == ["d", "lastmodified", "mac"]
    assert decrypt(made_new, "a.sops.yaml", [OWNER]) == PLAIN.replace(b"d: 12", b"d: 13")


def test_another_type_is_another_value() -> None:
    made_new = changed(PLAIN.replace(b"d: 12", b'd: "12"'))

    assert differing(CONTENT, made_new) == ["d", "lastmodified", "mac"]


def test_a_value_that_becomes_empty_and_back() -> None:
    empty = changed(PLAIN.replace(b"a: wool", b'a: ""'))

    assert differing(CONTENT, empty) == ["a", "lastmodified", "mac"]
    assert decrypt(changed(PLAIN, empty), "a.sops.yaml", [OWNER]) == PLAIN


def test_a_new_key_keeps_the_ciphertext_of_all_others() -> None:
    made_new = changed(PLAIN + b"new: lamb\n")

    kept = [line for line in CONTENT.splitlines() if b"ENC[" in line and b"mac:" not in line]
    assert set(kept) <= set(made_new.splitlines())
    assert decrypt(made_new, "a.sops.yaml", [OWNER]) == PLAIN + b"new: lamb\n"


def test_a_key_that_goes_and_a_comment_that_comes() -> None:
    plain = PLAIN.replace(b"a: wool\n", b"# new\n").replace(b"  - x\n", b"")

    made_new = changed(plain)

    assert decrypt(made_new, "a.sops.yaml", [OWNER]) == plain
    assert sum(line in CONTENT.splitlines() for line in made_new.splitlines()) > 10


@pytest.mark.parametrize(
    "name",
    [
        "secret.sops.yaml",
        "partly.sops.yaml",
        "many.sops.yaml",
        "secret.sops.json",
        "blob.sops.bin",
        "chosen-by-comment.sops.yaml",
    ],
)
def test_files_of_the_real_program_stay_as_they_are(name: str) -> None:
    content = vector(name)
    plain = decrypt(content, name, [OWNER])

    assert changed(plain, content, name) == content


def test_one_change_in_a_file_of_the_real_program() -> None:
    content = vector("secret.sops.yaml")
    plain = decrypt(content, "secret.sops.yaml", [OWNER]).replace(b"count: 12", b"count: 13")

    made_new = changed(plain, content, "secret.sops.yaml")

    assert differing(content, made_new) == ["count", "lastmodified", "mac"]


def test_json_and_binary_change_in_one_place_too() -> None:
    content = vector("secret.sops.json")
    plain = decrypt(content, "secret.sops.json", [OWNER]).replace(b"<sheep>", b"lamb")
    json_new = changed(plain, content, "secret.sops.json")
    binary_new = changed(b"silk", vector("blob.sops.bin"), "blob.sops.bin")

    assert differing(content, json_new) == ['"text"', '"lastmodified"', '"mac"']
    assert decrypt(json_new, "secret.sops.json", [OWNER]) == plain
    assert decrypt(binary_new, "blob.sops.bin", [OWNER]) == b"silk"


def test_a_value_in_the_clear_changes_alone_where_only_encrypted_ones_are_summed() -> None:
    content = vector("partly.sops.yaml")
    plain = decrypt(content, "partly.sops.yaml", [OWNER]).replace(b"name: app", b"name: ap")

    made_new = changed(plain, content, "partly.sops.yaml")

    assert differing(content, made_new) == ["name", "lastmodified", "mac"]


@pytest.mark.parametrize("number", range(80))
def test_documents_of_all_layouts_stay_as_they_are(number: int) -> None:
    one = made(f"stable-{number}", (OWNER.recipient,))
    content = encrypt(one.plain, one.name, one.recipe, fresh())

    assert changed(one.plain, content, one.name) == content
    assert changed(decrypt(content, one.name, [OWNER]), content, one.name) == content


@pytest.mark.parametrize(
    ("path", "value"),
    [(("a",), "silk"), (("b", "d"), 7), (("list", 1), "lamb"), (("b", "c"), "two\nlines\n")],
)
def test_one_value_is_set_by_its_path(path: tuple[str | int, ...], value: SopsValue) -> None:
    new = NewValue(path=path, value=value)

    made_new = set_existing_value(CONTENT, "a.sops.yaml", new, [OWNER], fresh("later", LATER))

    assert value_at(open_file(made_new, "a.sops.yaml", [OWNER]), path) == value
    assert len(differing(CONTENT, made_new)) == 3
    assert (
        set_existing_value(made_new, "a.sops.yaml", new, [OWNER], fresh("last", LATER)) == made_new
    )


@pytest.mark.parametrize("path", [("nowhere",), ("b",), ("list", 9), ("a", "x"), ("sops", "mac")])
def test_a_path_without_a_value_is_not_found(path: tuple[str | int, ...]) -> None:
    with pytest.raises(NotFound, match=r"sops\.no-value"):
        value_at(open_file(CONTENT, "a.sops.yaml", [OWNER]), path)
