"""The rules of SOPS in a rendered repository."""

from __future__ import annotations

import re

import pytest
import yaml

from stockman.config.language import Dialect
from stockman.rendering.sops_rules import sops_config_text, sops_rules_file
from tests.catalog.estates import MATERIALS
from tests.rendering.shapes import drawn, shaped


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_every_secret_file_has_a_rule_that_encrypts_it(dialect: Dialect) -> None:
    files = drawn(shaped(visibility="private"), dialect)
    (text,) = [file.text for file in files.tree if file.path == ".sops.yaml"]
    rules = yaml.safe_load(str(text))["creation_rules"]
    secret = [file.path for file in files.tree if file.is_secret]

    assert len(secret) > 5
    for path in secret:
        rule = next(item for item in rules if re.search(item["path_regex"], path))
        assert rule["age"] == MATERIALS.age_recipient
        whole = "encrypted_regex" not in rule
        assert whole is path.startswith("talos/")


def test_several_recipients_stand_in_every_rule() -> None:
    text = sops_config_text("classic", "age1a,age1b")
    assert [rule["age"] for rule in yaml.safe_load(text)["creation_rules"]] == ["age1a,age1b"] * 3


def test_rules_for_nobody_are_not_written() -> None:
    assert list(sops_rules_file("classic", "")) == []
