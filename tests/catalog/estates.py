"""Configurations with components on, and what rendering needs besides."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.catalog.component import InputFiles, Tunnel
from stockman.catalog.objects import merge_values
from stockman.config.language import Dialect
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.config.writers.yaml_writer import render_yaml
from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.repository import RenderedRepository, render_repository
from stockman.rendering.talos_files import without_references
from tests.fast_yaml import load_yaml

MATERIALS = InputFiles(
    age_recipient="age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
    age_identity=Secret("an identity"),
    deploy_key=Secret("a deploy key"),
    webhook_token=Secret("a webhook token"),
    tunnel=Tunnel(id="a-tunnel", token=Secret("a tunnel token")),
)


def wanted(more: Mapping[str, object] | None = None, preset: str = "three-node") -> Desired:
    """A preset with further keys of cluster.yaml."""
    texts = render_preset(preset)
    if more:
        yaml = load_yaml(texts["cluster.yaml"])
        texts = {**texts, "cluster.yaml": render_yaml(merge_values(yaml, more))}
    loaded = load({name: text.encode() for name, text in texts.items()})
    check_rules(loaded)
    assert not loaded.problems.errors, [str(problem) for problem in loaded.problems.errors]
    return without_references(resolve(loaded), Secret("a resolved secret"))


def rendered(
    more: Mapping[str, object] | None = None,
    *,
    preset: str = "three-node",
    dialect: Dialect = "classic",
) -> RenderedRepository:
    """What a preset with further keys renders; fails on any error."""
    problems = Problems()
    rendered_repository = render_repository(wanted(more, preset), MATERIALS, dialect, problems)
    assert not problems.errors, [str(problem) for problem in problems.errors]
    return rendered_repository


def complaints(more: Mapping[str, object]) -> list[str]:
    """The codes of what components say about a preset with further keys."""
    problems = Problems()
    render_repository(wanted(more), MATERIALS, "classic", problems)
    return [problem.code for problem in problems]
