"""New files: form, selectors, recipients, and what is refused."""

import json
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.sops.files import decrypt, encrypt, file_metadata, rekey
from stockman.crypto.sops.selectors import EncryptionSettings, Selector
from stockman.model.errors import Conflict, Denied, NotFound, Refused, StockmanError
from stockman.model.origin import Position
from tests.crypto.generated import made
from tests.crypto.keys_at_hand import NOON, OTHER, OWNER, QUANTUM, fresh

RECIPE = EncryptionSettings(recipients=(OWNER.recipient,))
DATA = EncryptionSettings(
    recipients=(OWNER.recipient,),
    selector=Selector(name="encrypted_regex", pattern="^data$"),
    only_encrypted=True,
    indent=2,
)


def closed(plain: str, name: str = "a.sops.yaml", recipe: EncryptionSettings = RECIPE) -> str:
    return encrypt(plain.encode(), name, recipe, fresh()).decode()


def opened(content: str, name: str = "a.sops.yaml") -> str:
    return decrypt(content.encode(), name, [OWNER]).decode()


def refusal(content: str, name: str = "a.sops.yaml") -> StockmanError:
    with pytest.raises(StockmanError) as caught:
        decrypt(content.encode(), name, [OWNER])
    return caught.value


def test_the_entry_has_the_form_that_sops_writes() -> None:
    content = closed("kind: Secret\ndata:\n  a: wool\n", recipe=DATA)

    before, _, entry = content.partition("sops:\n")
    lines = entry.splitlines()
    assert before.startswith("kind: Secret\ndata:\n  a: ENC[AES256_GCM,data:")
    assert lines[:3] == [
        "  age:",
        "    - enc: |",
        "        -----BEGIN AGE ENCRYPTED FILE-----",
    ]
    assert lines[8:12] == [
        "        -----END AGE ENCRYPTED FILE-----",
        f"      recipient: {OWNER.recipient}",
        "  encrypted_regex: ^data$",
        '  lastmodified: "2026-08-01T12:00:00Z"',
    ]
    assert lines[12].startswith("  mac: ENC[AES256_GCM,data:")
    assert lines[13:] == ["  mac_only_encrypted: true", "  version: 3.13.3"]


def test_times_are_written_in_utc() -> None:
    local = NOON.astimezone(timezone(timedelta(hours=5)))

    content = encrypt(b"a: 1\n", "a.sops.yaml", RECIPE, fresh(now=local))

    assert b'lastmodified: "2026-08-01T12:00:00Z"' in content


def test_the_same_dice_make_the_same_file() -> None:
    assert closed("a: 1\n") == closed("a: 1\n")


def test_no_plaintext_is_left_in_a_file_that_is_encrypted_whole() -> None:
    plain = "# wolf\nkey: wolf # wolf\nlist:\n  # wolf\n  - wolf # wolf\n  - {k: [wolf]} # wolf\n"

    content = closed(plain + "text: | # wolf\n  wolf\n\n  wolf\n")

    assert "wolf" not in content
    assert opened(content).count("wolf") == plain.count("wolf") + 3


def test_what_is_not_encrypted_keeps_its_bytes() -> None:
    plain = "---\n# a list\nlist:   [ 1,2 ]  # odd\ndata:\n    a:  wool\nend: 'x'\n"

    content = closed(plain, recipe=DATA)

    assert content.startswith("---\n# a list\nlist:   [ 1,2 ]  # odd\ndata:\n    a:  ENC[")
    assert opened(content) == plain


@pytest.mark.parametrize(
    ("selector", "encrypted"),
    [
        (Selector(), {"a", "b_secret", "data"}),
        (Selector(name="encrypted_suffix", pattern="_secret"), {"b_secret"}),
        (Selector(name="unencrypted_suffix", pattern="a"), {"b_secret", "c_unencrypted"}),
        (Selector(name="encrypted_regex", pattern="^(a|data)$"), {"a", "data"}),
        (Selector(name="unencrypted_regex", pattern="^(a|data)$"), {"b_secret", "c_unencrypted"}),
        (Selector(name="encrypted_comment_regex", pattern="hide"), {"b_secret"}),
        (Selector(name="unencrypted_comment_regex", pattern="show"), {"a", "b_secret", "data"}),
    ],
)
def test_selectors_choose_what_is_encrypted(selector: Selector, encrypted: set[str]) -> None:
    plain = "a: wool\n# hide\nb_secret: wool\n# show\nc_unencrypted: wool\ndata:\n  x: wool\n"
    recipe = EncryptionSettings(recipients=(OWNER.recipient,), selector=selector)

    content = closed(plain, recipe=recipe)

    lines = content.replace("data:\n  x:", "data:").splitlines()
    found = {line.partition(":")[0] for line in lines if ": ENC[" in line and line[0] != " "}
    assert found == encrypted
    assert opened(content) == plain


def test_each_recipient_opens_the_file_alone() -> None:
    recipe = EncryptionSettings(recipients=(OTHER.recipient, QUANTUM.recipient))
    content = encrypt(b"a: wool\n", "a.sops.yaml", recipe, fresh())

    assert decrypt(content, "a.sops.yaml", [OTHER]) == b"a: wool\n"
    assert decrypt(content, "a.sops.yaml", [QUANTUM]) == b"a: wool\n"
    with pytest.raises(Denied, match=r"sops\.wrong-identity"):
        decrypt(content, "a.sops.yaml", [OWNER])


def test_rekeying_keeps_the_ciphertext_and_the_lines_of_recipients_that_stay() -> None:
    content = closed("a: wool\n").encode()

    wider = rekey(content, "a.sops.yaml", [OWNER], [OWNER.recipient, OTHER.recipient], fresh("x"))
    narrower = rekey(wider, "a.sops.yaml", [OTHER], [OTHER.recipient], fresh("y"))

    assert decrypt(wider, "a.sops.yaml", [OTHER]) == b"a: wool\n"
    assert set(content.splitlines()) < set(wider.splitlines())
    assert file_metadata(narrower, "a.sops.yaml").recipients == (OTHER.recipient,)
    with pytest.raises(Denied):
        decrypt(narrower, "a.sops.yaml", [OWNER])


def test_rekeying_for_the_same_recipients_changes_nothing() -> None:
    content = closed("a: wool\n").encode()

    assert rekey(content, "a.sops.yaml", [], [OWNER.recipient], fresh("x")) == content


def test_json_keeps_its_layout() -> None:
    plain = '{\n  "a": "wool",\n  "list": [1, {"b": null}]\n}\n'

    content = closed(plain, "a.json")

    assert opened(content, "a.json") == plain
    assert content.startswith('{\n  "a": "ENC[')
    assert list(json.loads(content)) == ["a", "list", "sops"]


@pytest.mark.parametrize("plain", ["{}", '{"a": "x"}', '{"a": {}, "b": []}'])
def test_json_on_one_line_stays_on_one(plain: str) -> None:
    content = closed(plain, "a.json")

    assert "\n" not in content
    assert opened(content, "a.json") == plain


@given(st.binary(max_size=200))
def test_binary_files_hold_any_bytes(plain: bytes) -> None:
    content = encrypt(plain, "age.key", RECIPE, fresh())

    assert decrypt(content, "age.key", [OWNER]) == plain
    assert list(json.loads(content)) == ["data", "sops"]


@pytest.mark.parametrize("number", range(150))
def test_documents_of_all_layouts_come_back(number: int) -> None:
    one = made(f"unit-{number}", (OWNER.recipient,))

    content = encrypt(one.plain, one.name, one.recipe, fresh())

    plain = decrypt(content, one.name, [OWNER])
    again = encrypt(plain, one.name, one.recipe, fresh())
    assert decrypt(again, one.name, [OWNER]) == plain


@pytest.mark.parametrize(
    ("name", "code"),
    [("a.env", "sops.form"), ("b/a.sops.ini", "sops.form")],
)
def test_other_forms_are_refused(name: str, code: str) -> None:
    with pytest.raises(Refused) as caught:
        encrypt(b"a=1\n", name, RECIPE, fresh())

    assert caught.value.problem.code == code


@pytest.mark.parametrize(
    ("plain", "code"),
    [
        ("", "sops.syntax"),
        ("a: [\n", "sops.syntax"),
        ("- a\n", "sops.unsupported"),
        ("text\n", "sops.unsupported"),
        ("1: a\n", "sops.unsupported"),
        ("true: a\n", "sops.unsupported"),
        ("? [a]\n: b\n", "sops.unsupported"),
        ("a: &x 1\n", "sops.unsupported"),
        ("a: &x [1]\n", "sops.unsupported"),
        ("a: !secret x\n", "sops.unsupported"),
        ("a: !!binary aGk=\n", "sops.unsupported"),
        ("a: 18446744073709551615\n", "sops.unsupported"),
        ("a: 1\na: 2\n", "sops.duplicate-key"),
        ("a: {b: 1, b: 2}\n", "sops.duplicate-key"),
        ("a: 1\nsops: {}\n", "sops.already-encrypted"),
        ("a: [x, # note\n  y]\n", "sops.comment-place"),
        ("a: " + "[" * 300 + "]" * 300, "sops.unsupported"),
    ],
)
def test_text_that_sops_cannot_hold_is_refused(plain: str, code: str) -> None:
    with pytest.raises((Refused, Conflict)) as caught:
        closed(plain)

    assert caught.value.problem.code == code


@pytest.mark.parametrize(
    ("plain", "code"),
    [
        ("[]", "sops.unsupported"),
        ('{"a": 1} x', "sops.syntax"),
        ('{"a": 1, "a": 2}', "sops.duplicate-key"),
        ('{"a": 1,}', "sops.syntax"),
        ('{"a" 1}', "sops.syntax"),
        ('{"a": 01}', "sops.syntax"),
        ('{"a": 1e999}', "sops.syntax"),
        ('{"a": "\t"}', "sops.syntax"),
        ('{"a": "x', "sops.syntax"),
        ('{"a":', "sops.syntax"),
        ('{"a": ' + "[" * 300, "sops.syntax"),
    ],
)
def test_json_that_sops_cannot_hold_is_refused(plain: str, code: str) -> None:
    with pytest.raises(Refused) as caught:
        closed(plain, "a.json")

    assert caught.value.problem.code == code


def test_problems_name_the_place() -> None:
    with pytest.raises(Refused) as caught:
        closed("a: 1\nb:\n  c: 1\n  c: wolf\n")

    assert caught.value.problem.where == Position("a.sops.yaml", 4, 3)
    assert "wolf" not in str(caught.value.problem)


def test_line_ends_of_windows_do_not_hinder_reading() -> None:
    content = closed("# note\na: wool\nb:\n  - x\n")

    assert opened(content.replace("\n", "\r\n")) == "# note\na: wool\nb:\n  - x\n"


def test_a_byte_order_mark_does_not_hinder_reading() -> None:
    assert opened("\ufeff" + closed("a: wool\n")) == "a: wool\n"


def test_a_file_without_entry_is_not_encrypted() -> None:
    with pytest.raises(NotFound, match=r"sops\.not-encrypted"):
        opened("a: wool\n")


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("sops: x\n", "sops.metadata"),
        ("sops: {}\n", "sops.metadata"),
        ("sops: {age: [], lastmodified: x, mac: x}\n", "sops.metadata"),
        ("sops: {key_groups: [{age: []}]}\n", "sops.key-group"),
        ("sops: {kms: [{arn: x}]}\n", "sops.kms"),
        ("sops: {gcp_kms: [{x: x}]}\n", "sops.kms"),
        ("sops: {azure_kv: [{x: x}]}\n", "sops.kms"),
        ("sops: {hc_vault: [{x: x}]}\n", "sops.kms"),
        ("sops: {pgp: [{fp: x}]}\n", "sops.pgp"),
    ],
)
def test_entries_that_cannot_be_used_are_refused(entry: str, code: str) -> None:
    assert refusal(f"a: x\n{entry}").problem.code == code


def test_the_empty_lists_that_older_versions_wrote_do_not_matter() -> None:
    content = closed("a: wool\n")
    older = content.replace("sops:\n", "sops:\n    kms: []\n    pgp: []\n    hc_vault: []\n")

    assert opened(older) == "a: wool\n"


def test_selectors_exclude_each_other() -> None:
    content = closed("a: wool\n").replace("    version", "    encrypted_regex: a\n    version")

    assert refusal(content).problem.code == "sops.selectors"


def test_an_expression_that_go_does_not_know_is_refused() -> None:
    content = closed("a: wool\n").replace(
        "unencrypted_suffix: _unencrypted", 'encrypted_regex: "(?=a)"'
    )

    assert refusal(content).problem.code == "sops.regex"
