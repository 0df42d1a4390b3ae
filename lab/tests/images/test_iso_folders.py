"""ISO images with folders."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stockman_lab.images.iso_folders import folders_image

from lab.tests.images.made import MOMENT
from stockman.talos.nocloud.iso_reader import read_image

names = st.text(string.ascii_lowercase + string.digits + "_-", min_size=1, max_size=12)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


def is_tree(files: dict[str, bytes]) -> bool:
    """Whether nothing is both a file and a folder."""
    return not any(other.startswith(f"{file}/") for file in files for other in files)


trees = st.dictionaries(paths, st.binary(max_size=3000), max_size=12).filter(is_tree)


@settings(max_examples=60)
@given(trees)
def test_what_is_written_is_read(files: dict[str, bytes]) -> None:
    image = read_image("a.iso", folders_image(files, MOMENT, "A LABEL"))

    assert (image.label, image.files) == ("A LABEL", files)


def by_joliet(content: bytes) -> bytes:
    """The image for a reader that does not speak Rock Ridge."""
    return content.replace(b"SP\x07\x01\xbe\xef\x00", b"XX\x07\x01\xbe\xef\x00")


@settings(max_examples=30)
@given(trees)
def test_the_other_names_say_the_same(files: dict[str, bytes]) -> None:
    content = by_joliet(folders_image(files, MOMENT, "X"))

    assert read_image("a.iso", content).files == files


@pytest.mark.parametrize("path", ["", "/a", "a//b", "../a", "a b", "ä"])
def test_paths_that_cannot_be_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        folders_image({path: b""}, MOMENT, "X")
