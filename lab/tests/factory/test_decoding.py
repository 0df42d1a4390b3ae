"""Schematics are read as the Image Factory reads them."""

import json

import pytest
from stockman_lab.factory.decoding import Undecodable, decoded

from lab.tests.factory.schematic_texts import IDS, REFUSALS
from stockman.talos.schematic import schematic_id
from tests.talos.schematics import COMPUTED, PUBLISHED, Document
from tests.talos.schematics import REFUSED as WRONG

LEVELS = ["    a1: &a1 [x]"] + [
    f"    a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(2, 9)
]
NOISE = [
    *(b"\xff\xfe\x00", b"\x00", b"a: \x07", b"[" * 3000),
    b"overlay: {options: &a {b: *a}}",
    "\n".join(["overlay:", "  options:", *LEVELS]).encode(),
]


@pytest.mark.parametrize(("text", "wanted"), IDS.items())
def test_a_text_has_the_id_of_what_it_says(text: str, wanted: str) -> None:
    assert schematic_id(decoded(text.encode())) == wanted


@pytest.mark.parametrize(("text", "wanted"), REFUSALS.items())
def test_a_text_that_is_none_is_refused_in_the_words_of_the_factory(text: str, wanted: str) -> None:
    with pytest.raises(Undecodable) as caught:
        decoded(text.encode())

    assert str(caught.value) == wanted


@pytest.mark.parametrize(("document", "wanted"), [*PUBLISHED.values(), *COMPUTED.values()])
def test_json_is_read_as_well(document: Document, wanted: str) -> None:
    assert schematic_id(decoded(json.dumps(document, ensure_ascii=False).encode())) == wanted


@pytest.mark.parametrize("document", WRONG.values(), ids=WRONG)
def test_json_that_does_not_fit_is_refused(document: Document) -> None:
    with pytest.raises(Undecodable, match=r"^yaml: construct errors:\n  line 1: "):
        decoded(json.dumps(document).encode())


@pytest.mark.parametrize("noise", NOISE)
def test_noise_is_refused_and_nothing_more(noise: bytes) -> None:
    with pytest.raises(Undecodable):
        decoded(noise)
