"""All components together."""

from __future__ import annotations

import pytest

from stockman.catalog.registry import names
from stockman.config.language import Dialect
from stockman.model.secret import Secret
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_every_component_renders_next_to_all_others(dialect: Dialect) -> None:
    repository = rendered(EVERYTHING, preset="fifteen-node", dialect=dialect)
    owners = {file.owner for file in repository.tree}
    assert set(names()) <= owners


def test_secrets_are_in_encrypted_files_only() -> None:
    for file in rendered(EVERYTHING, preset="fifteen-node").tree:
        assert ("/" in file.path and ".sops." in file.path) == isinstance(file.text, Secret)


def test_a_component_that_is_off_leaves_no_file() -> None:
    repository = rendered({"components": {"echo": {"enabled": False}}})
    assert not [file.path for file in repository.tree if "echo" in file.path]


def test_turning_a_component_off_and_on_again_gives_the_same_files() -> None:
    before = [(file.path, file.text) for file in rendered().tree]
    again = [
        (file.path, file.text)
        for file in rendered({"components": {"echo": {"enabled": True}}}).tree
    ]
    assert before == again
