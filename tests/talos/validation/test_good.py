"""Configurations that stockman makes are taken, strictly and in both modes."""

from __future__ import annotations

import re

import pytest

from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.patches.schema import MINORS
from stockman.talos.validation.report import RuntimeMode
from tests.talos.machine.clusters import KUBERNETES, TALOS, bundle
from tests.talos.validation.bases import base
from tests.talos.validation.judge import Case, our_problems
from tests.talos.validation.mutations import good_documents, rich, text_of


def preset(name: str, line: str) -> Desired:
    """A preset in the style of one Talos line."""
    files = render_preset(name)
    text = files["cluster.yaml"]
    for key, value in (
        ("talos_version", TALOS[line]),
        ("talos_contract", f'"{line}"'),
        ("kubernetes_version", KUBERNETES[line]),
    ):
        text = re.sub(rf"^{key}:.*$", f"{key}: {value}", text, flags=re.MULTILINE)
    loaded = load({"cluster.yaml": text.encode(), "nodes.yaml": files["nodes.yaml"].encode()})
    check_rules(loaded)
    return resolve(loaded)


@pytest.mark.parametrize("line", MINORS)
@pytest.mark.parametrize("name", ["single", "three-node", "fifteen-node"])
def test_nothing_is_said_against_a_preset(name: str, line: str) -> None:
    desired = preset(name, line)
    for node in {node.role: node for node in desired.nodes}.values():
        text = configuration_text(machine_documents(desired, node, bundle())).reveal()

        problems = [list(our_problems(Case(text, mode, True), line)) for mode in RuntimeMode]

        assert problems == [[], []]


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("role", ["controlplane", "worker"])
def test_later_lines_take_the_styles_of_earlier_ones(minor: str, role: str) -> None:
    for contract in MINORS[: MINORS.index(minor) + 1]:
        problems = our_problems(Case(base(contract, role)), minor)

        assert not problems.errors


@pytest.mark.parametrize("minor", MINORS)
def test_a_small_document_of_every_kind_is_taken(minor: str) -> None:
    refused = {
        document["kind"]: list(problems.errors)
        for document in good_documents(minor)
        if (problems := our_problems(Case(text_of([document])), minor)).errors
    }

    assert refused == {}


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("role", ["controlplane", "worker"])
def test_sections_that_few_use_are_taken_unless_strictly(minor: str, role: str) -> None:
    text = text_of(rich("1.11", role))

    lax, strict = (
        our_problems(Case(text, RuntimeMode.METAL, strict_mode), minor)
        for strict_mode in (False, True)
    )

    assert not lax.errors
    assert {error.code for error in strict.errors} == {"machine.deprecated"}
    assert len(lax.warnings) == len(strict.errors)
