from typing import Literal

import pytest

from stockman.config.reference.key_types import key_type
from stockman.config.reference.keys import description, record_text, type_in_words, unset_meaning
from stockman.model.hardware import DataDisk, Tpm
from stockman.model.machine import Expect


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (str, "text"),
        (int | None, "whole number"),
        (Literal["static", "dhcp"], "one of static, dhcp"),
        (Tpm, "mapping"),
        (tuple[str, ...], "list of texts"),
        (tuple[DataDisk, ...], "list of mappings"),
        (tuple[Literal["a", "b"], ...], "list of texts, each one of a, b"),
        (tuple[object, ...], "list of anything"),
        (dict[str, DataDisk], "mappings by name"),
        (dict[str, object], "anything by name"),
        (dict[str, tuple[str, ...]], "lists of texts by name"),
    ],
)
def test_a_kind_in_words(hint: object, said: str) -> None:
    assert type_in_words(key_type(hint)) == said


def test_what_absence_means_is_told_apart_from_what_the_key_means() -> None:
    docs = "VLAN tag on the bridge. None: untagged, the bridge's native VLAN."

    assert description(docs, key_type(int)) == "VLAN tag on the bridge."
    assert unset_meaning(docs) == "untagged, the bridge's native VLAN"


def test_absence_in_the_middle_is_taken_out() -> None:
    docs = "Devices. Empty: the system disk. First to last."

    assert description(docs, key_type(str)) == "Devices. First to last."
    assert unset_meaning(docs) == "the system disk"


def test_a_dot_inside_a_name_ends_no_sentence() -> None:
    assert unset_meaning("Keys. None: those of github.com, gitlab.com.") == (
        "those of github.com, gitlab.com"
    )


def test_a_key_that_only_says_what_absence_means_says_that() -> None:
    assert description("None: the MTU of the bridge.", key_type(int)) == (
        "Not set: the MTU of the bridge."
    )


def test_a_block_that_says_nothing_of_its_own_is_described_by_its_class() -> None:
    assert description("None: no TPM.", key_type(Tpm | None)).startswith("A virtual TPM")


def test_a_block_adds_what_its_class_says_and_repeats_nothing() -> None:
    assert description("The second chip.", key_type(Tpm)).startswith(
        "The second chip. A virtual TPM, required"
    )
    assert description("A virtual TPM.", key_type(Tpm)).startswith("A virtual TPM, required")


def test_items_of_a_list_are_described_after_the_list() -> None:
    assert description("Further disks.", key_type(tuple[DataDisk, ...])).startswith(
        "Further disks. Each item: a disk in addition to the system disk."
    )


def test_users_read_of_keys_that_are_not_set_and_of_no_none() -> None:
    assert "None" not in record_text(Expect)
