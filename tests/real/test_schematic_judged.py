"""The code of the Image Factory and stockman give the same id to every schematic."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stockman.model.problem import Problems
from stockman.talos.schematic import read_schematic, schematic_id
from tests.talos.schematics import COMPUTED, PUBLISHED, REFUSED, Document
from tools.pytest_plugin import RealTool

PIECES = [
    *"abZ0179-+._:#\"'\\[]{},?&*!|>%@`~<=eExoT \t\n",
    *("true", "null", "no", "0x", "0b", "0o", "1e5", ".5", ".inf", "<<", "---", "..."),
    *("2020-01-02", "T10:11:12Z", "10:11:12", "12:30", "- ", ": ", " #", "\n\n", "\n ", " \n"),
    *("é", "日", "\U0001f600", "\xa0", "\x85", "\r", "\0", "\x1b", "\ufeff", "\ue000"),
    *("9223372036854775807", "18446744073709551615", "e999", "1_", "00"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
LINES = TEXTS.filter(lambda text: not set(text) & set("\n\r\x85"))
VALUES = st.recursive(
    TEXTS
    | st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINES, inner, max_size=4),
    max_leaves=8,
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "customization": st.fixed_dictionaries(
            {
                "extraKernelArgs": st.lists(TEXTS, max_size=12),
                "meta": st.lists(
                    st.fixed_dictionaries({"key": st.integers(0, 255), "value": TEXTS}), max_size=4
                ),
                "embeddedMachineConfiguration": TEXTS,
            }
        ),
        "overlay": st.fixed_dictionaries(
            {"image": TEXTS, "name": TEXTS, "options": st.dictionaries(LINES, VALUES, max_size=4)}
        ),
    }
)


@pytest.fixture(scope="module")
def factory(real_tool: RealTool) -> Path:
    return real_tool("check-schematic")


def their_id(factory: Path, document: Document) -> str | None:
    """The id by the Image Factory's own code. None: it refuses the schematic."""
    # JSON is YAML but for three characters: two lines would be folded, and one is not allowed.
    text = json.dumps(document, ensure_ascii=False)
    for character in "\x7f\x85\ufeff":
        text = text.replace(character, f"\\u{ord(character):04x}")
    run = subprocess.run([factory], input=text.encode(), capture_output=True, check=False)
    return run.stdout.decode().strip() or None


def our_id(document: Document) -> str | None:
    schematic = read_schematic(document, Problems(), None)
    return None if schematic is None else schematic_id(schematic)


@pytest.mark.parametrize(
    ("document", "wanted"), [*PUBLISHED.values(), *COMPUTED.values()], ids=[*PUBLISHED, *COMPUTED]
)
def test_the_ids_that_the_fast_tests_hold_are_the_real_ones(
    document: Document, wanted: str, factory: Path
) -> None:
    assert their_id(factory, document) == our_id(document) == wanted


@pytest.mark.parametrize("document", REFUSED.values(), ids=REFUSED)
def test_both_refuse_the_same(document: Document, factory: Path) -> None:
    assert their_id(factory, document) is None
    assert our_id(document) is None


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_every_generated_schematic_has_the_same_id(factory: Path, document: Document) -> None:
    assert our_id(document) == their_id(factory, document)
