"""Whatever is changed without the data key is found out."""

import re

import pytest

from stockman.crypto.sops.files import decrypt, encrypt
from stockman.crypto.sops.selectors import EncryptionSettings
from stockman.model.errors import Denied, StockmanError
from tests.crypto.keys_at_hand import OTHER, OWNER, fresh

PLAIN = b"a: wool\nb:\n  c: wool\n  d: 12\nlist: [x, y]\nshown_unencrypted: field\n"
CONTENT = encrypt(
    PLAIN, "a.sops.yaml", EncryptionSettings(recipients=(OWNER.recipient,)), fresh()
).decode()
VALUE = re.compile(r"ENC\[[^\]]*\]")
VALUES = VALUE.findall(CONTENT)


def verdict(content: str) -> str:
    with pytest.raises(StockmanError) as caught:
        decrypt(content.encode(), "a.sops.yaml", [OWNER])
    assert "wool" not in str(caught.value.problem)
    return caught.value.problem.code


def flipped(base64_text: str) -> str:
    """The same length, with other bytes behind it."""
    return ("B" if base64_text[0] != "B" else "C") + base64_text[1:]


@pytest.mark.parametrize("place", range(len(VALUES)))
@pytest.mark.parametrize("part", ["data", "iv", "tag"])
def test_no_part_of_a_value_can_be_changed(place: int, part: str) -> None:
    old = VALUES[place]
    changed = re.sub(rf"(?<={part}:)[^,]+", lambda match: flipped(match[0]), old)

    assert verdict(CONTENT.replace(old, changed)) in ("sops.value", "sops.mac")


def test_values_cannot_change_places() -> None:
    first, second = VALUES[0], VALUES[1]
    swapped = CONTENT.replace(first, "@").replace(second, first).replace("@", second)

    assert verdict(swapped) == "sops.value"


def test_items_of_one_list_cannot_change_places() -> None:
    first, second = VALUES[3], VALUES[4]
    swapped = CONTENT.replace(first, "@").replace(second, first).replace("@", second)

    assert verdict(swapped) == "sops.mac"


def test_keys_cannot_be_renamed() -> None:
    assert verdict(CONTENT.replace("b:\n", "e:\n", 1)) == "sops.value"


def test_values_in_the_clear_are_covered() -> None:
    assert verdict(CONTENT.replace("field", "fold")) == "sops.mac"


def test_values_cannot_be_removed_or_added() -> None:
    assert verdict(re.sub(r"^a:.*\n", "", CONTENT)) == "sops.mac"
    assert verdict("more_unencrypted: x\n" + CONTENT) == "sops.mac"


def test_a_value_in_the_clear_in_the_place_of_an_encrypted_one_is_refused() -> None:
    assert verdict(CONTENT.replace(VALUES[0], "wool")) == "sops.value"
    assert verdict(CONTENT.replace(VALUES[0], "12")) == "sops.value"


def test_another_type_is_found_out() -> None:
    assert verdict(CONTENT.replace("type:str", "type:int", 1)) == "sops.value"
    assert verdict(CONTENT.replace("type:str", "type:what", 1)) == "sops.value"
    assert verdict(CONTENT.replace("type:str", "type:comment", 1)) == "sops.mac"


def test_the_time_is_covered() -> None:
    assert verdict(CONTENT.replace("2026-08-01", "2026-08-02")) == "sops.mac"
    assert verdict(CONTENT.replace("2026-08-01", "not-a-time")) == "sops.metadata"


def test_a_file_without_check_sum_is_refused() -> None:
    assert verdict(CONTENT.replace(VALUES[-1], '""')) == "sops.mac"
    assert verdict(re.sub(r"    mac:.*\n", "", CONTENT)) == "sops.metadata"


def test_the_rule_of_the_check_sum_cannot_be_changed() -> None:
    changed = CONTENT.replace("    unenc", "    mac_only_encrypted: true\n    unenc")

    assert verdict(changed) == "sops.mac"


@pytest.mark.parametrize("cut", [2, 4, 6, 20, 200, 500, len(CONTENT) - 40])
def test_a_truncated_file_is_refused(cut: int) -> None:
    assert verdict(CONTENT[:-cut]).startswith(("sops.", "age."))


def test_the_data_key_of_another_file_does_not_fit() -> None:
    other = encrypt(
        PLAIN, "b.yaml", EncryptionSettings(recipients=(OWNER.recipient,)), fresh("other")
    ).decode()
    block = re.compile(r"-----BEGIN.*?-----END", re.DOTALL)
    (theirs,) = block.findall(other)

    assert verdict(block.sub(theirs, CONTENT)) == "sops.value"


def test_a_damaged_data_key_is_told_from_a_foreign_one() -> None:
    damaged = re.sub(r"(BEGIN AGE ENCRYPTED FILE-----\n +)\w", r"\1!", CONTENT)

    assert verdict(damaged) == "age.armor"
    with pytest.raises(Denied, match=r"sops\.wrong-identity"):
        decrypt(CONTENT.encode(), "a.sops.yaml", [OTHER])
