"""Files that the real program wrote."""

import pytest

from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.sops.files import decrypt, file_metadata, open_file, rotate
from stockman.crypto.sops.scalars import Timestamp
from stockman.crypto.sops.selectors import Selector
from stockman.crypto.sops.update import value_at
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM, fresh, vector

SECRET = """\
# about the flock
name: meadow # inline
count: 12
ratio: 1.5
tagged: true
nothing: null
empty: ""
born: 2001-01-02T00:00:00Z
mode: 493
note: |
  line 1
  line 2
list:
    # first
    - one
    - name: two # second
      name_unencrypted: shown
"""


def test_values_comments_and_order_of_a_yaml_file_are_kept() -> None:
    assert decrypt(vector("secret.sops.yaml"), "secret.sops.yaml", [OWNER]).decode() == SECRET


def test_every_kind_of_value_is_known() -> None:
    file = open_file(vector("secret.sops.yaml"), "secret.sops.yaml", [OWNER])

    assert [value_at(file, (key,)) for key in ("name", "count", "ratio", "tagged", "nothing")] == [
        "meadow",
        12,
        1.5,
        True,
        None,
    ]
    assert value_at(file, ("born",)) == Timestamp("2001-01-02T00:00:00Z")
    assert value_at(file, ("mode",)) == 0o755
    assert value_at(file, ("list", 1, "name")) == "two"


def test_a_file_that_is_encrypted_in_part() -> None:
    plain = decrypt(vector("partly.sops.yaml"), "partly.sops.yaml", [OTHER])

    assert plain.decode().endswith("stringData:\n  user: shepherd\n  port: 8443\n")
    metadata = file_metadata(vector("partly.sops.yaml"), "partly.sops.yaml")
    assert metadata.selector == Selector(name="encrypted_regex", pattern="^(data|stringData)$")
    assert metadata.only_encrypted
    assert metadata.recipients == (OWNER.recipient, OTHER.recipient)
    assert metadata.version == "3.13.3"


def test_a_file_of_several_documents() -> None:
    plain = decrypt(vector("many.sops.yaml"), "many.sops.yaml", [OWNER])

    assert plain == b"a: 1\n---\nb: two\n"


def test_a_json_file() -> None:
    plain = decrypt(vector("secret.sops.json"), "secret.sops.json", [OWNER]).decode()

    assert plain == (
        '{\n\t"text": "<sheep>",\n\t"number": 9007199254740993,\n\t"float": 1.5,\n'
        '\t"list": [\n\t\ttrue,\n\t\tnull,\n\t\t"x"\n\t]\n}\n'
    )


def test_a_binary_file() -> None:
    assert decrypt(vector("blob.sops.bin"), "blob.sops.bin", [OWNER]) == b"wool\0\xff\n"


def test_a_file_for_a_post_quantum_recipient() -> None:
    name = "post-quantum.sops.yaml"

    assert decrypt(vector(name), name, [OWNER, QUANTUM]) == b"a: wolf\n"


def test_a_file_whose_values_are_chosen_by_comments() -> None:
    name = "chosen-by-comment.sops.yaml"

    assert decrypt(vector(name), name, [OWNER]) == b"# encrypt me\na: wolf\nb: sheep\n"
    assert b"b: sheep" in vector(name)


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("secret.sops.yaml", OWNER),
        ("partly.sops.yaml", OWNER),
        ("many.sops.yaml", OWNER),
        ("secret.sops.json", OWNER),
        ("blob.sops.bin", OWNER),
        ("post-quantum.sops.yaml", QUANTUM),
    ],
)
def test_rotation_changes_every_ciphertext_and_no_value(name: str, identity: AgeIdentity) -> None:
    content = vector(name)

    rotated = rotate(content, name, [identity], fresh())

    assert decrypt(rotated, name, [identity]) == decrypt(content, name, [identity])
    old = {line for line in content.splitlines() if b"ENC[" in line}
    assert old
    assert old.isdisjoint(rotated.splitlines())
    kept = [line for line in content.splitlines() if b"version" in line or b"recipient" in line]
    assert set(kept) <= set(rotated.splitlines())
