"""Every component of the catalog is whole."""

from __future__ import annotations

import pytest

from stockman.catalog.registry import component, names
from stockman.config.components import CONDITIONS
from stockman.model.component import find_component_facts as known_component

OWN = ("monitoring",)
"""Made by stockman itself, of its own version."""


@pytest.mark.parametrize("name", names())
def test_a_component_has_facts_of_the_same_name(name: str) -> None:
    known = known_component(name)
    assert known is not None
    assert known.name == name
    assert known.namespace
    assert known.licence
    assert known.condition in CONDITIONS
    assert known.tag or known.app_version or name in OWN
    for need in known.requires:
        assert need in names()


@pytest.mark.parametrize("name", names())
def test_a_component_says_what_it_is_for_and_how_to_know_that_it_works(name: str) -> None:
    definition = component(name)
    assert definition.about.endswith(".")
    assert definition.ready
    for condition in definition.ready:
        assert len(condition.kind.split(" ")) == 2
        assert condition.expr.count("(") == condition.expr.count(")")
        assert condition.says


@pytest.mark.parametrize("name", names())
def test_settings_of_a_component_are_described(name: str) -> None:
    for field in component(name).settings.__dataclass_fields__.values():
        if field.name != "origins":
            assert field.default is not field.default_factory or field.default is None
