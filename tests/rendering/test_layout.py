"""A repository that is laid out as users of the other dialect know it."""

from __future__ import annotations

import pytest
import yaml

from stockman.config.language import Dialect
from tests.rendering.shapes import drawn, shaped, texts

MARKS: dict[Dialect, set[str]] = {
    "classic": {"bootstrap/helmfile.d/01-apps.yaml", "talos/talconfig.yaml", "Taskfile.yaml"},
    "toml": {"bootstrap/helmfile/apps.yaml", "talos/topf.yaml", "justfile"},
}


@pytest.mark.parametrize("dialect", ["classic", "toml"])
@pytest.mark.parametrize("layout", ["classic", "toml"])
def test_the_layout_is_the_one_that_is_asked_for(dialect: Dialect, layout: Dialect) -> None:
    section = f"repository: {{tasks: true, layout: {layout}}}\n"
    paths = set(texts(drawn(shaped(section), dialect)))

    other: Dialect = "toml" if layout == "classic" else "classic"
    assert paths >= MARKS[layout]
    assert paths.isdisjoint(MARKS[other])


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_without_a_wish_it_is_that_of_the_files(dialect: Dialect) -> None:
    files = texts(drawn(shaped("repository: {tasks: true}\n"), dialect))
    assert set(files) >= MARKS[dialect]


def test_topf_finds_the_bundle_of_the_classic_dialect() -> None:
    files = texts(drawn(shaped("repository: {layout: toml}\n"), "classic"))
    assert yaml.safe_load(files["talos/topf.yaml"])["secretsPath"] == "talsecret.sops.yaml"


def test_rules_of_sops_are_those_of_the_files() -> None:
    ours, theirs = (
        texts(drawn(shaped(f"repository: {{layout: {layout}}}\n"), "classic"))[".sops.yaml"]
        for layout in ("toml", "classic")
    )
    assert ours == theirs


def test_flux_asks_for_the_key_by_the_name_that_the_layout_gives_it() -> None:
    section = "repository: {layout: toml}\n"
    result = drawn(shaped(section, visibility="private"), "classic")
    text = texts(result)["kubernetes/apps/flux-system/flux-instance/app/helmrelease.yaml"]

    assert "pullSecret: deploy-key" in text
    assert "bootstrap/deploy-key.sops.yaml" in {file.path for file in result.tree}
