"""Values that shells offer, out of files and tables."""

import click
import pytest

from stockman.cli.completion import (
    Completer,
    complete_codes,
    complete_explain_arguments,
    complete_keys,
    complete_nodes,
    complete_presets,
    complete_with,
)
from stockman.cli.group import Program
from stockman.cli.registry import COMMANDS


def values(completer: Completer, incomplete: str) -> list[str]:
    context = click.Context(Program(COMMANDS))
    return [item.value for item in completer(context, click.Argument(["name"]), incomplete)]


@pytest.mark.parametrize(
    "completer",
    [complete_nodes, complete_presets, complete_keys, complete_codes, complete_explain_arguments],
)
def test_only_values_that_begin_as_typed_are_offered(completer: Completer) -> None:
    assert values(completer, "no value begins like this") == []


def test_presets_and_keys_are_offered() -> None:
    assert "three-node" in values(complete_presets, "three")
    assert values(complete_keys, "nodes.")


def test_values_come_from_the_function_named() -> None:
    assert values(complete_with("tests.cli.fake_values:pet_names"), "B") == ["Bella", "Bingo"]


@pytest.mark.parametrize(
    "source",
    ["no_such_module:names", "tests.cli.fake_values:nothing", "tests.cli.fake_values:broken"],
)
def test_a_source_that_is_missing_or_broken_offers_nothing(source: str) -> None:
    assert values(complete_with(source), "") == []


def test_components_are_offered_after_the_word_component() -> None:
    context = click.Context(Program(COMMANDS))
    argument = click.Argument(["names"], nargs=-1)
    assert "component" in values(complete_explain_arguments, "comp")

    context.params["names"] = ("component",)
    offered = complete_explain_arguments(context, argument, "proxmox-c")

    assert [item.value for item in offered] == ["proxmox-ccm", "proxmox-csi"]
