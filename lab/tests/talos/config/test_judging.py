"""Whether Talos takes a configuration, and what it says if it does not."""

from __future__ import annotations

import pytest
from stockman_lab.talos.config.effective import effective
from stockman_lab.talos.config.judging import Verdict, judged

from lab.tests.talos.config.configurations import CONTRACTS, nodes
from stockman.talos.patches.schema import MINORS
from tests.talos.validation.bad import bad
from tests.talos.validation.judge import ours
from tests.talos.validation.mutations import cases

WORKER = "version: v1alpha1\nmachine:\n  type: worker\n"
DRAWN = 25


def verdict(text: str, minor: str, mode: str = "cloud") -> Verdict:
    return judged(text.encode(), minor, mode)


@pytest.mark.parametrize("minor", MINORS)
def test_configurations_of_presets_are_taken(minor: str) -> None:
    styles = [contract for contract in CONTRACTS if contract <= minor]
    texts = [text for style in styles for text in nodes("three-node", style).values()]

    assert [judged(text, minor, "metal") for text in texts] == [Verdict()] * len(texts)


@pytest.mark.parametrize("minor", MINORS)
def test_bad_ones_are_refused_with_a_reason(minor: str) -> None:
    for one in bad():
        if minor in one.refused:
            found = judged(one.case.text.encode(), minor, "metal", strict=one.case.strict)

            assert not found.accepted, one.name
            assert found.message, one.name


@pytest.mark.parametrize("minor", MINORS)
def test_changed_ones_are_taken_or_refused_as_validation_says(minor: str) -> None:
    for case in cases(minor, DRAWN, "lab"):
        found = judged(case.text.encode(), minor, case.mode.value, strict=case.strict)
        said = ours(case, minor)

        assert found.accepted is said.accepted
        assert len(found.warnings) == (0 if found.unreadable else said.warnings)
        assert effective(case.text.encode(), minor).machine_type is not None


@pytest.mark.parametrize(
    ("text", "minor", "said"),
    [
        ("", "1.13", "config not found"),
        ("# nothing\n", "1.14", "config not found"),
        ("- a\n", "1.12", "recovered: expected a mapping node"),
        ("- a\n", "1.13", "expected a YAML document at line 1"),
        (
            "apiVersion: v1alpha1\nkind: KubePrismConfig\n",
            "1.12",
            '"KubePrismConfig" "v1alpha1": not registered',
        ),
        (
            "apiVersion: v1alpha1\nkind: KubePrismConfig\n",
            "1.13",
            (
                "error decoding document v1alpha1/KubePrismConfig/ (line 1): "
                '"KubePrismConfig" "v1alpha1": not registered'
            ),
        ),
        (
            f"{WORKER}---\n{WORKER}",
            "1.13",
            "duplicate document /v1alpha1/ is not allowed (line 5)",
        ),
        (
            f"{WORKER}  certSANs: one\n",
            "1.12",
            (
                "error decoding  to *v1alpha1.Config: yaml: unmarshal errors:\n"
                "  line 4: cannot unmarshal !!str `one` into []string"
            ),
        ),
        (
            f"{WORKER}  network:\n    interfaces:\n      - interface: eth0\n        dhpc: true\n",
            "1.11",
            (
                "unknown keys found during decoding:\nmachine:\n    network:\n        interfaces:\n"
                "            - dhpc: true\n"
            ),
        ),
        (
            "machine:\n  type: worker\n  type: worker\n",
            "1.11",
            (
                "error decoding  to *v1alpha1.Config: yaml: unmarshal errors:\n"
                '  line 3: mapping key "type" already defined at line 2'
            ),
        ),
        (
            "a: 1\nb: [1, 2\nc: 3\n",
            "1.14",
            (
                "decode error: go-yaml load error in parser (while parsing a flow sequence) at "
                "L2.C4-L3.C2: did not find expected ',' or ']'"
            ),
        ),
        ("name: x\n", "1.11", "missing kind"),
    ],
)
def test_the_loader_says_why_it_cannot_read_a_text(text: str, minor: str, said: str) -> None:
    found = verdict(text, minor)

    assert found.unreadable == said
    assert found.message == said


def test_bytes_that_are_no_text_are_refused() -> None:
    assert judged(b"\xff\xfe\xfd", "1.13").unreadable.startswith("decode error")


def test_a_very_large_text_is_looked_at_like_any_other() -> None:
    pad = "# " + "x" * 70 + "\n"
    text = nodes("single", "1.13")
    large = next(iter(text.values())) + (pad * 5_000).encode()

    assert judged(large, "1.13").accepted


def test_errors_are_gathered_under_the_oldest_document() -> None:
    text = "machine:\n  type: shepherd\npersist: false\ncluster: {}\n"
    older, newer = verdict(text, "1.11"), verdict(text, "1.13")

    assert older.errors == newer.errors
    assert newer.invalid.startswith("1 error occurred:\n\t* v1alpha1.Config: ")
    assert 'unknown machine type "shepherd"' in older.invalid
    assert older.invalid.count("\n\t* ") == len(older.errors)


def test_an_installation_is_needed_on_metal_alone() -> None:
    bare = next(one.case.text for one in bad() if one.name == "no install section")

    assert verdict(bare, "1.13", "metal").errors == (
        'install instructions are required in "metal" mode',
    )
    assert verdict(bare, "1.13", "cloud").accepted
    assert verdict(bare, "1.14", "metal").accepted
