"""Components in the files: names, versions, and what one cannot do without."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.rendering.validation import validate
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.rules import check_rules
from stockman.model.component import all_component_facts
from stockman.model.origin import Position
from stockman.model.problem import Problem


def told(components: str) -> list[Problem]:
    texts = render_preset("three-node")
    texts = {**texts, "cluster.yaml": f"{texts['cluster.yaml']}\ncomponents: {components}\n"}
    loaded = load({name: text.encode() for name, text in texts.items()})
    check_rules(loaded)
    return [problem for problem in loaded.problems if problem.code.startswith("component.")]


def test_a_component_without_what_it_needs_is_an_error_that_names_both() -> None:
    (problem,) = told("{proxmox-csi: {enabled: true, storage: local-zfs}}")

    assert problem.code == "component.requires"
    assert problem.what == "proxmox-csi needs proxmox-ccm, which is off"
    assert problem.fix.startswith("set components.proxmox-ccm.enabled to true")
    assert problem.where


def test_what_others_count_on_cannot_be_turned_off_alone() -> None:
    repository = told("{envoy-gateway: {enabled: false}}")

    assert [problem.code for problem in repository] == ["component.requires"]
    assert repository[0].what == "echo needs envoy-gateway, which is off"


def test_turning_off_both_is_fine() -> None:
    assert told("{envoy-gateway: {enabled: false}, echo: {enabled: false}}") == []


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("celium", "write cilium"),
        ("proxmox-csi-plugin", "write proxmox-csi"),
        ("quite-another-thing", "`stockman explain component` lists all of them"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_suggestion(name: str, fix: str) -> None:
    (problem,) = told(f"{{{name}: {{enabled: true}}}}")

    assert problem.code == "component.unknown"
    assert problem.fix == fix


@pytest.mark.parametrize(("version", "age"), [("99.0.0", "newer"), ("0.1.0", "older")])
def test_a_version_that_stockman_does_not_know_is_a_warning(version: str, age: str) -> None:
    (problem,) = told(f"{{echo: {{version: {version}}}}}")

    assert problem.code == "component.version"
    assert not problem.is_error
    assert age in problem.what


def test_settings_are_checked_with_the_other_keys(tmp_path: Path) -> None:
    texts = render_preset("three-node")
    settings = "components: {cilium: {settings: {encription: wireguard, hubble: maybe}}}\n"
    for name, text in texts.items():
        more = settings if name == "cluster.yaml" else ""
        (tmp_path / name).write_text(f"{text}\n{more}")

    problems = [problem for problem in validate(tmp_path).problems if problem.is_error]

    assert [problem.code for problem in problems] == ["config.unknown-key", "config.value"]
    assert all(isinstance(problem.where, Position) for problem in problems)
    assert "encryption" in problems[0].fix


def test_the_known_version_is_no_matter() -> None:
    (known,) = [
        component_fact for component_fact in all_component_facts() if component_fact.name == "echo"
    ]

    assert told(f"{{echo: {{version: {known.version}}}}}") == []


def test_a_component_that_only_the_tables_know_is_said_to_be_left_alone() -> None:
    (problem,) = told("{gatekeeper: {enabled: true}}")

    assert problem.code == "component.not-installed"
    assert not problem.is_error
