"""NoCloud images, written and read."""

from __future__ import annotations

import hashlib
import string
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.iso_files import read_iso

from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.talos.nocloud.iso_format import (
    MOST_BYTES,
    MOST_FILES,
    SECTOR,
    is_file_name,
    nocloud_image,
    short_names,
)
from stockman.talos.nocloud.seed import NocloudSeed

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FILES = {"user-data": b"version: v1alpha1\n", "meta-data": b"instance-id: x\n", "vendor-data": b""}
GOLDEN = "42c3cf6d98fba857666af83c72188893ef86b1f3ecf0191c6755acb5a4c51e33"
names = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=64).filter(
    is_file_name
)
contents = st.binary(max_size=3 * SECTOR)
trees = st.dictionaries(names, contents, max_size=MOST_FILES).filter(
    lambda files: len({name.lower() for name in files}) == len(files)
)


def image(files: dict[str, bytes]) -> bytes:
    return nocloud_image(files, MOMENT)


@given(trees)
def test_what_is_written_is_read(files: dict[str, bytes]) -> None:
    iso = read_iso(image(files))

    assert iso.files == files
    assert iso.label == "cidata"


@given(trees, st.integers(-120 * 365, 120 * 365))
def test_an_image_is_made_of_its_input_alone(files: dict[str, bytes], days: int) -> None:
    moment = MOMENT + timedelta(days=days)
    again = dict(reversed(files.items()))
    elsewhere = moment.astimezone(timezone(timedelta(hours=7)))

    assert nocloud_image(files, moment) == nocloud_image(again, elsewhere)


@given(trees)
def test_short_names_are_those_of_level_1_and_each_once(files: dict[str, bytes]) -> None:
    short = short_names(files)

    assert len(set(short.values())) == len(files)
    for short_name in short.values():
        stem, _, suffix = short_name.decode().removesuffix(";1").partition(".")
        assert 1 <= len(stem) <= 8
        assert len(suffix) <= 3
        assert set(stem + suffix) <= set(string.ascii_uppercase + string.digits + "_")


def test_an_image_is_whole_sectors_and_knows_how_many() -> None:
    made = image(FILES)

    assert len(made) % SECTOR == 0
    assert (
        int.from_bytes(made[16 * SECTOR + 80 : 16 * SECTOR + 84], "little") == len(made) // SECTOR
    )


def test_the_bytes_of_an_image_never_change() -> None:
    assert hashlib.sha256(image(FILES)).hexdigest() == GOLDEN


@given(st.data())
@settings(max_examples=200)
def test_a_damaged_image_is_read_or_refused(data: st.DataObject) -> None:
    made = bytearray(image(FILES))
    for _ in range(data.draw(st.integers(1, 6))):
        index = data.draw(st.integers(16 * SECTOR, len(made) - 1))
        made[index] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(made)))

    with suppress(CorruptImage):
        read_iso(bytes(made[:end]))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ä", "a" * 65, "a\n"])
def test_names_that_readers_disagree_on_are_refused(name: str) -> None:
    with pytest.raises(Refused, match=r"nocloud\.image-content"):
        image({name: b""})


@pytest.mark.parametrize(
    "files",
    [
        {"A": b"", "a": b""},
        {f"f{number}": b"" for number in range(MOST_FILES + 1)},
        {"user-data": bytes(MOST_BYTES + 1)},
    ],
)
def test_what_does_not_fit_is_refused(files: dict[str, bytes]) -> None:
    with pytest.raises(Refused, match=r"nocloud\.image-content"):
        image(files)


@pytest.mark.parametrize("content", [b"", b"x" * 100_000, bytes(64 * SECTOR)])
def test_what_is_no_image_is_refused(content: bytes) -> None:
    with pytest.raises(CorruptImage):
        read_iso(content)


def test_the_files_of_a_node_are_under_the_names_that_talos_reads() -> None:
    seed = NocloudSeed(
        user_data=Secret("a: 1\n"), meta_data="b: 2\n", network_config="version: 1\n"
    )

    assert read_iso(seed.image(MOMENT)).files == {
        "meta-data": b"b: 2\n",
        "network-config": b"version: 1\n",
        "user-data": b"a: 1\n",
    }
    assert "a: 1" not in repr(seed)
