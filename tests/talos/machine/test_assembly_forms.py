"""Patches in the words of another contract."""

from __future__ import annotations

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.talos.machine.assembly import ConfigurationAssembler
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.patch import Patch
from tests.talos.machine.clusters import bundle, desired, node_named

FILE = "patches/worker.yaml"
KUBELET = "apiVersion: v1alpha1\nkind: KubeletConfig\nimage: ghcr.io/siderolabs/kubelet:v1.36.0\n"


def refused(line: str, text: str) -> Problem:
    state = desired(line)
    patches = PatchSet(all=(Patch(label=FILE, file=FILE, text=text),))
    with pytest.raises(StockmanError) as caught:
        ConfigurationAssembler(state, bundle(), patches).of(node_named(state, "cp-1"))
    return caught.value.problem


def test_a_field_that_became_a_document_is_explained() -> None:
    problem = refused("1.14", "machine:\n  kubelet:\n    extraArgs: {a: b}\n")

    assert problem.code == "patch.two-forms"
    assert str(problem.where) == f"{FILE}:3:5"
    assert "contract 1.14 uses KubeletConfig for it" in problem.why
    assert "kind: KubeletConfig" in problem.fix


def test_a_document_of_a_later_talos_is_explained() -> None:
    problem = refused("1.13", KUBELET)

    assert problem.code == "patch.kind"
    assert problem.why == "it was added in Talos 1.14"
    assert "machine.kubelet" in problem.fix


def test_deleting_a_field_that_became_a_document_is_explained() -> None:
    problem = refused("1.14", "machine:\n  kubelet:\n    extraArgs:\n      $patch: delete\n")

    assert problem.code == "patch.delete"
    assert "contract 1.14 uses KubeletConfig for it" in problem.why


@pytest.mark.parametrize("line", ["1.11", "1.12", "1.13"])
def test_fields_of_older_contracts_are_no_second_form(line: str) -> None:
    state = desired(line)
    text = "machine:\n  features:\n    hostDNS: {resolveMemberNames: true}\n"
    patches = PatchSet(all=(Patch(label=FILE, file=FILE, text=text),))

    configuration = (
        ConfigurationAssembler(state, bundle(), patches).of(node_named(state, "cp-1")).text()
    )

    assert "resolveMemberNames: true" in configuration.reveal()
