"""What images say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.images.facts import ROOM, CorruptImage, ImageFacts, facts_area, facts_in

from lab.tests.images.made import facts

texts = st.text(max_size=40)


@given(
    st.builds(
        ImageFacts,
        platform=texts,
        architecture=texts,
        version=texts,
        schematic=texts,
        virtual_size=st.integers(0, 1 << 60),
        secure_boot=st.booleans(),
        more=st.dictionaries(texts, texts, max_size=3),
    )
)
def test_facts_are_read_as_they_were_written(said: ImageFacts) -> None:
    area = facts_area(said)

    assert len(area) == ROOM
    assert facts_in(area) == said


def test_other_bytes_have_no_facts() -> None:
    assert facts_in(b"\x00" * ROOM) is None
    assert facts_in(b"") is None


@pytest.mark.parametrize("number", [16, 20, 60, 200])
def test_a_changed_byte_is_found(number: int) -> None:
    area = bytearray(facts_area(facts()))
    area[number] ^= 1

    with pytest.raises(CorruptImage, match="checksum"):
        facts_in(bytes(area))


def test_facts_that_are_cut_off_are_refused() -> None:
    with pytest.raises(CorruptImage, match="cut off"):
        facts_in(facts_area(facts())[:40])


def test_too_many_facts_have_no_room() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        facts_area(ImageFacts(platform="x" * ROOM, virtual_size=1))
