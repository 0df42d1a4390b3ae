"""Tasks under the names that people are used to."""

from __future__ import annotations

import re

import pytest
import yaml

from docs._ext.names import find_mistake
from stockman.config.language import Dialect
from stockman.rendering.tasks import task_files
from tests.rendering.shapes import drawn, shaped

CLASSIC = {
    *("init", "configure", "reconcile", "bootstrap:talos", "bootstrap:apps"),
    *("talos:generate-config", "talos:apply-node", "talos:reset"),
    *("template:debug", "template:tidy"),
}
RECIPES = {
    "justfile": {"init", "configure"},
    "bootstrap/mod.just": {"talos", "apps"},
    "kubernetes/mod.just": {"reconcile"},
    "talos/mod.just": {"apply", "apply-node", "diff", "nodes", "render", "reset"},
    "template/mod.just": {"doctor", "tidy"},
}
_RECIPE = re.compile(r"^([a-z0-9-]+)( [a-z]+)?:$", re.MULTILINE)
_CALL = re.compile(r'stockman (?:-C "[^"]+" )?(.+)')


def written(dialect: Dialect) -> dict[str, str]:
    return {file.path: str(file.text) for file in task_files(dialect)}


def test_the_taskfile_has_the_known_tasks() -> None:
    (text,) = written("classic").values()
    content = yaml.safe_load(text)

    assert content["version"] == "3"
    assert set(content["tasks"]) == CLASSIC
    assert all(task["desc"] and task["cmds"] for task in content["tasks"].values())


def test_a_task_for_one_machine_asks_for_it_and_quotes_it() -> None:
    (text,) = written("classic").values()
    task = yaml.safe_load(text)["tasks"]["talos:apply-node"]

    assert task["requires"] == {"vars": ["IP"]}
    assert task["cmds"] == ["stockman apply --only talos --node {{shellQuote .IP}}"]


def test_every_module_of_just_has_the_known_recipes() -> None:
    result = written("toml")

    assert {path: {name for name, _ in _RECIPE.findall(text)} for path, text in result.items()} == (
        RECIPES
    )
    modules = re.findall(r"^mod (\S+) '(\S+)'$", result["justfile"], re.MULTILINE)
    assert dict(modules) == {
        "bootstrap": "bootstrap",
        "kube": "kubernetes",
        "talos": "talos",
        "template": "template",
    }


def test_a_recipe_for_one_machine_never_puts_its_argument_into_the_text_of_a_shell() -> None:
    text = written("toml")["talos/mod.just"]
    assert "{{ node }}" not in text
    assert "[positional-arguments]\napply-node node:\n" in text


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_tasks_only_call_commands_and_options_that_stockman_has(dialect: Dialect) -> None:
    called = {name for text in written(dialect).values() for name in _CALL.findall(text)}

    assert len(called) > 5
    assert [found for one in called if (found := find_mistake(f"stockman {one}"))] == []


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_tasks_are_rendered_on_request_only(dialect: Dialect) -> None:
    without = {file.path for file in drawn(shaped(), dialect).tree}
    paths = {file.path for file in drawn(shaped("repository: {tasks: true}\n"), dialect).tree}
    assert paths - without == set(written(dialect))
