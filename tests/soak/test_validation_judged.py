"""`talosctl validate` of every minor and stockman agree, on bad configurations and changed ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stockman.talos.patches.schema import MINORS
from stockman.talos.validation.report import RuntimeMode
from tests.talos.validation.bad import bad
from tests.talos.validation.expressions import PLACES, Speaker, document
from tests.talos.validation.judge import (
    LIBRARY,
    TALOSCTL,
    Case,
    Verdict,
    by_library,
    by_talosctl,
    ours,
)
from tests.talos.validation.mutations import cases
from tools.provide import Provider

AT_ONCE = 2
CHANGED = 3000
EXPRESSIONS = 1500


@pytest.mark.parametrize("minor", MINORS)
def test_talosctl_agrees_on_every_bad_configuration_in_both_modes(
    minor: str, tmp_path: Path
) -> None:
    talosctl = Provider().path(f"talosctl@{TALOSCTL[minor]}")
    asked = [Case(one.case.text, mode, one.case.strict) for one in bad() for mode in RuntimeMode]
    asked = [one for one in asked if not is_excused(minor, one.text)]

    def judged(number: int) -> Verdict:
        place = tmp_path / str(number)
        place.mkdir()
        return by_talosctl(talosctl, asked[number], place)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = list(pool.map(judged, range(len(asked))))

    assert disagreements(minor, asked, verdicts) == []


@pytest.mark.parametrize("minor", MINORS)
def test_the_library_agrees_on_many_changed_configurations(minor: str) -> None:
    asked = [case_ for case_ in cases(minor, CHANGED, "soak") if not is_excused(minor, case_.text)]

    program = Provider().path(f"check-validation@{LIBRARY[minor]}")
    assert disagreements(minor, asked, by_library(program, asked)) == []


@pytest.mark.parametrize("minor", MINORS)
def test_the_library_agrees_on_many_expressions(minor: str) -> None:
    texts = [
        (name, Speaker(name, f"{minor}/{number}/soak").text())
        for name, (_, since, _) in PLACES.items()
        if since <= int(minor.partition(".")[2])
        for number in range(EXPRESSIONS)
    ]
    asked = [Case(document(place, text)) for place, text in texts if not _is_unjudged(text)]

    program = Provider().path(f"check-validation@{LIBRARY[minor]}")
    assert disagreements(minor, asked, by_library(program, asked)) == []


def _is_unjudged(text: str) -> bool:
    """Whether an expression has a part that is not looked into.

    The type of the items of an empty list or map is not found out by how they are used later, and
    items that may be missing are taken for items.
    """
    return any(part in text for part in ("[]", "{}", "[?", ",?"))


def is_excused(minor: str, text: str) -> bool:
    """Whether a disagreement has a reason that is not ours to mend."""
    if minor != "1.12":
        return False
    # That library takes an empty list for the bytes of an identifier.
    return "duidRaw: []" in text


def disagreements(minor: str, asked: list[Case], judged: list[Verdict]) -> list[str]:
    found = []
    for case, theirs in zip(asked, judged, strict=True):
        verdict = ours(case, minor)
        if verdict.accepted != theirs.accepted:
            found.append(f"{theirs.said or 'taken'} | {verdict.said or 'taken'}\n{case.text}")
    return found
