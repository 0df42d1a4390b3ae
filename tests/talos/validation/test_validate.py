"""What is said of a configuration: everything at once, with places, and never a secret."""

from __future__ import annotations

import pytest

from stockman.model.origin import Position, derivation
from stockman.model.problem import Problems
from stockman.talos.patches.apply import documents_of
from stockman.talos.patches.schema import MINORS, Branch, Leaf, load_schema
from stockman.talos.validation.report import RuntimeMode
from stockman.talos.validation.validate import RULES, load_configuration, validate
from tests.talos.validation.judge import Case, our_problems

SEVERAL = """\
machine:
  type: shepherd
  token: grazing-token
  ca:
    key: Z3JhemluZw==
  network:
    interfaces:
      - interface: eth0
        addresses: [here]
        wireguard:
          privateKey: grazing-key
---
apiVersion: v1alpha1
kind: VLANConfig
name: eth0.10
vlanID: 5000
"""


def codes(text: str, minor: str = "1.13", mode: RuntimeMode = RuntimeMode.METAL) -> list[str]:
    return [problem.code for problem in our_problems(Case(text, mode), minor)]


def test_all_problems_come_at_once_in_the_order_of_lines() -> None:
    assert codes(SEVERAL) == [
        "machine.section",
        "machine.install",
        "machine.type",
        "machine.address",
        "machine.wireguard",
        "machine.required",
        "machine.range",
    ]


def test_no_value_that_may_be_secret_is_told() -> None:
    told = "\n".join(str(problem) for problem in our_problems(Case(SEVERAL), "1.13"))

    assert "grazing" not in told
    assert "Z3Jhem" not in told


def test_the_place_of_what_is_missing_is_that_of_its_parent() -> None:
    problems = our_problems(Case("apiVersion: v1alpha1\nkind: TCPProbeConfig\nname: a\n"), "1.13")

    (only,) = problems
    assert (only.code, only.where) == ("machine.required", Position("machine.yaml", 1, 1))


def test_a_cloud_machine_need_not_install_itself() -> None:
    text = "machine:\n  type: worker\n"

    assert "machine.install" in codes(text)
    assert "machine.install" not in codes(text, mode=RuntimeMode.CLOUD)


def test_from_1_14_on_no_machine_need_install_itself() -> None:
    assert "machine.install" not in codes("machine:\n  type: worker\n", minor="1.14")


def test_warnings_of_documents_stay_warnings_when_strict() -> None:
    text = "apiVersion: v1alpha1\nkind: BGPInstanceConfig\nname: a\nlocalASN: 64512\n"

    problems = our_problems(Case(text, RuntimeMode.METAL, True), "1.14")

    assert [(problem.code, problem.is_error) for problem in problems] == [
        ("machine.incomplete", False)
    ]


def test_every_key_and_value_that_does_not_fit_is_told_at_once() -> None:
    text = (
        "machine:\n  typ: worker\n  certSANs: one\n  kubelet:\n    image: [a]\n    extra: 1\n"
        "---\napiVersion: v1alpha1\nkind: Nothing\n"
    )
    problems = Problems()

    documents = load_configuration("machine.yaml", text, "1.14", problems)

    assert documents is None
    assert [(problem.code, str(problem.where).partition(":")[2]) for problem in problems] == [
        ("machine.field", "2:3"),
        ("machine.value", "3:13"),
        ("machine.value", "5:12"),
        ("machine.field", "6:5"),
        ("machine.kind", "9:7"),
    ]


def test_what_nobody_wrote_is_named_instead_of_placed() -> None:
    origin = derivation("a test")
    tree = Branch(
        origin,
        {
            "apiVersion": Leaf("v1alpha1", origin),
            "kind": Leaf("KmsgLogConfig", origin),
            "name": Leaf("remote", origin),
        },
    )

    (only,) = validate(documents_of([tree], "1.13"), "1.13", RuntimeMode.METAL)

    assert only.where == "url of KmsgLogConfig remote"


@pytest.mark.parametrize("minor", MINORS)
def test_rules_are_about_kinds_that_exist(minor: str) -> None:
    newest = load_schema(MINORS[-1]).kinds

    assert set(RULES) <= set(newest)
    assert set(load_schema(minor).kinds) <= set(newest)
