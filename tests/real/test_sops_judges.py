"""The real `sops` reads ours, we read its files, and both find the same tampering."""

import json
from pathlib import Path

import pytest

from stockman.crypto.sops.files import decrypt, encrypt, file_metadata, open_file, rekey, rotate
from stockman.crypto.sops.metadata import render_yaml_entry
from stockman.crypto.sops.selectors import EncryptionSettings, read_sops_config
from stockman.crypto.sops.update import NewValue, reencrypt, set_existing_value, value_at
from tests.crypto.generated import Dice, made
from tests.crypto.keys_at_hand import OTHER, OWNER, QUANTUM, fresh
from tests.real.sops_judge import SopsJudge, judge_both_ways, meaning, ours_opens
from tests.real.tampering import tampered
from tools.pytest_plugin import RealTool

PLAIN = b"# flock\nname: meadow # inline\ncount: 12\nlist:\n  # first\n  - one\n  - two\n"


@pytest.fixture
def judge(real_tool: RealTool, tmp_path: Path) -> SopsJudge:
    return SopsJudge(real_tool("sops"), tmp_path)


@pytest.mark.parametrize("number", range(40))
def test_documents_are_read_both_ways(number: int, judge: SopsJudge) -> None:
    recipient = QUANTUM.recipient if number % 5 == 0 else OWNER.recipient

    judge_both_ways(made(f"real-{number}", (recipient,)), judge)


@pytest.mark.parametrize("number", range(6))
def test_tampering_gets_the_same_verdict(number: int, judge: SopsJudge) -> None:
    one = made(f"tampered-{number}", (OWNER.recipient,), comments=False)
    content = encrypt(one.plain, one.name, one.recipe, fresh()).decode()

    for name, changed in tampered(content, Dice(f"tampering-{number}")):
        theirs = judge.decrypted(changed.encode(), one.name)
        ours = ours_opens(changed.encode(), one.name)
        assert (ours is None) == (theirs is None), name


@pytest.mark.parametrize("indent", [2, 3, 4, 6])
def test_the_entry_is_written_letter_for_letter(indent: int, judge: SopsJudge) -> None:
    judge.follow(EncryptionSettings(recipients=(OWNER.recipient, OTHER.recipient), indent=indent))
    (judge.directory / "a.yaml").write_bytes(PLAIN)

    content = judge.run("encrypt", "a.yaml")

    assert content is not None
    entry = "sops:" + content.decode().split("\nsops:")[1]
    assert render_yaml_entry(file_metadata(content, "a.yaml"), indent) == entry


def test_sops_edits_our_file_in_place_and_we_go_on(judge: SopsJudge) -> None:
    content = encrypt(PLAIN, "a.yaml", EncryptionSettings(recipients=(OWNER.recipient,)), fresh())

    edited = judge.changed(content, "a.yaml", "set", "a.yaml", '["name"]', json.dumps("hill"))
    again = set_existing_value(
        edited, "a.yaml", NewValue(path=("count",), value=13), [OWNER], fresh("b")
    )

    assert value_at(open_file(edited, "a.yaml", [OWNER]), ("name",)) == "hill"
    theirs = judge.decrypted(again, "a.yaml")
    assert theirs is not None
    assert b"name: hill" in theirs
    assert b"count: 13" in theirs
    lines = zip(edited.splitlines(), again.splitlines(), strict=True)
    assert sum(old != new for old, new in lines) == 3


def test_a_new_plaintext_for_a_file_of_sops_is_read_by_sops(judge: SopsJudge) -> None:
    judge.follow(EncryptionSettings(recipients=(OWNER.recipient,)))
    (judge.directory / "a.yaml").write_bytes(PLAIN)
    content = judge.run("encrypt", "a.yaml")
    assert content is not None
    plain = PLAIN + b"more:\n  text: |\n    two\n    lines\n"

    changed = reencrypt(content, plain, "a.yaml", [OWNER], fresh())

    theirs = judge.decrypted(changed, "a.yaml")
    assert theirs is not None
    assert meaning(theirs, "a.yaml") == meaning(plain, "a.yaml")


def test_rotated_and_rekeyed_files_are_read_by_sops(judge: SopsJudge) -> None:
    content = encrypt(PLAIN, "a.yaml", EncryptionSettings(recipients=(OTHER.recipient,)), fresh())
    assert judge.decrypted(content, "a.yaml") is None

    rekeyed = rekey(content, "a.yaml", [OTHER], [OTHER.recipient, QUANTUM.recipient], fresh("k"))
    rotated = rotate(rekeyed, "a.yaml", [OTHER], fresh("r"))

    assert judge.decrypted(rekeyed, "a.yaml") == judge.decrypted(rotated, "a.yaml") is not None


def test_files_that_sops_rotates_and_rekeys_are_read_by_us(judge: SopsJudge) -> None:
    content = encrypt(PLAIN, "a.yaml", EncryptionSettings(recipients=(OWNER.recipient,)), fresh())
    judge.follow(EncryptionSettings(recipients=(OWNER.recipient, OTHER.recipient)))

    rotated = judge.changed(content, "a.yaml", "rotate", "-i", "a.yaml")
    rekeyed = judge.changed(rotated, "a.yaml", "updatekeys", "-y", "a.yaml")

    assert meaning(decrypt(rotated, "a.yaml", [OWNER]), "a.yaml") == meaning(PLAIN, "a.yaml")
    assert decrypt(rekeyed, "a.yaml", [OTHER]) == decrypt(rotated, "a.yaml", [OWNER])


def test_creation_rules_choose_the_same(judge: SopsJudge) -> None:
    rules = f"""\
creation_rules:
  - path_regex: talos/.*\\.sops\\.ya?ml
    mac_only_encrypted: true
    age: {OWNER.recipient}
  - path_regex: (bootstrap|kubernetes)/.*\\.sops\\.ya?ml$
    encrypted_regex: ^(data|stringData)$
    mac_only_encrypted: true
    age: [{OWNER.recipient}, {OTHER.recipient}]
  - path_regex: "[[:digit:]]+-unencrypted"
    unencrypted_regex: "(?i)^NAME$"
    age: {OTHER.recipient}
stores: {{yaml: {{indent: 2}}}}
"""
    (judge.directory / ".sops.yaml").write_text(rules)
    config = read_sops_config(rules.encode())
    paths = ("talos/a.sops.yaml", "kubernetes/talos/a.sops.yml", "kubernetes/b/c.sops.yaml")
    for path in (*paths, "x/12-unencrypted.yaml"):
        file = judge.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"name: a\ndata: {b: c}\n")
        theirs = judge.run("encrypt", path)
        assert theirs is not None, path
        recipe = config.rule_for(path).recipe
        metadata = file_metadata(theirs, path)
        assert (metadata.recipients, metadata.selector, metadata.only_encrypted) == (
            recipe.recipients,
            recipe.selector,
            recipe.only_encrypted,
        )
        assert theirs.count(b"\n  age:\n") == 1
