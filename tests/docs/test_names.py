"""All names in pages exist, and all commands, keys, codes and presets have pages."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from docs._ext import link_targets
from docs._ext.names import find_mistake, link_target
from docs._ext.pages import generate_pages
from stockman.cli.output import Exit
from stockman.cli.registry import COMMANDS
from stockman.config.presets import PRESETS
from stockman.config.reference.keys import all_keys, flat_keys
from stockman.model.problems import problem_codes
from tests.docs import consoles, pages

HAND_WRITTEN = pages.hand_written()
GENERATED = generate_pages()
NOTHING = consoles.Step("", "", ())
_EXIT = re.compile(r"\b(?:[Ee]xit(?:s|ed)?|[Ee]nd(?:s|ed)?)(?: code| status)?(?: with)? `?(\d+)`?")
_PRESET = re.compile(r"\bpreset `([a-z-]+)`|`([a-z-]+)` preset\b")


def has_target(target: link_targets.LinkTarget) -> bool:
    text = GENERATED.get(target.page)
    if text is None:
        return False
    marks = (f"({target.anchor})=", f"{{#{target.anchor}}}")
    return not target.anchor or any(mark in text for mark in marks)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page(name: str) -> None:
    assert has_target(link_targets.of_command(name))


def test_every_key_has_a_target() -> None:
    keys = (*flat_keys(), *all_keys())

    assert [key.path for key in keys if not has_target(link_targets.of_key(key.path))] == []


def test_no_two_keys_share_a_target() -> None:
    taken = [link_targets.of_key(key.path) for key in (*flat_keys(), *all_keys())]

    assert len(set(taken)) == len(taken)


def test_every_problem_code_has_a_page() -> None:
    assert [code for code in problem_codes() if not has_target(link_targets.of_problem(code))] == []


@pytest.mark.parametrize("status", Exit)
def test_every_exit_code_has_a_target(status: Exit) -> None:
    assert has_target(link_targets.of_exit(status))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_target(name: str) -> None:
    assert has_target(link_targets.of_preset(name))


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: page.name)
def test_what_a_page_names_exists(page: Path) -> None:
    mistakes = [
        f"{code.position}: {mistake}"
        for code in pages.inline(page)
        if (mistake := find_mistake(code.text))
    ]

    assert mistakes == []


def test_what_generated_pages_name_exists(tmp_path: Path) -> None:
    for path, text in GENERATED.items():
        file = tmp_path / f"{path.replace('/', '-')}.md"
        file.write_text(text, "utf-8")

    codes = [code for file in tmp_path.glob("*.md") for code in pages.inline(file)]

    assert [mistake for code in codes if (mistake := find_mistake(code.text))] == []


def test_commands_in_blocks_exist_unless_they_show_wrong_usage() -> None:
    steps = [
        (step, following)
        for page in HAND_WRITTEN
        for block in pages.blocks(page)
        if block.language == "console"
        for step, following in pairwise([*consoles.commands(block), NOTHING])
        if step.command.startswith("stockman ")
    ]

    mistakes = [
        f"{step.position}: {mistake}"
        for step, following in steps
        if (mistake := find_mistake(step.command)) and following.shown != (f"{Exit.USAGE}",)
    ]

    assert mistakes == []


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: page.name)
def test_exit_codes_and_presets_that_a_page_names_exist(page: Path) -> None:
    text = pages.prose(page)

    statuses = {int(status) for status in _EXIT.findall(text)}
    presets = {name for pair in _PRESET.findall(text) for name in pair if name}

    assert statuses <= set(Exit)
    assert presets <= set(PRESETS)


def test_places_that_inline_code_is_linked_to_exist() -> None:
    texts = {code.text for page in HAND_WRITTEN for code in pages.inline(page)}

    targets = [target for text in sorted(texts) if (target := link_target(text)) is not None]

    assert targets
    assert [target for target in targets if not has_target(target)] == []


@pytest.mark.parametrize(
    "text",
    [
        "stockman valdate",
        "stockman validate --stric",
        "stockman init lab --preset four-node",
        "nodes.vm.nicks",
        "config.no-such-reason",
        "cluster_pod_cird",
    ],
)
def test_names_that_do_not_exist_are_seen(text: str) -> None:
    assert find_mistake(text)


@pytest.mark.parametrize(
    "text",
    [
        "stockman",
        "stockman COMMAND --help",
        "stockman --version",
        "stockman -C lab config show nodes.k8s-work-4 --origin",
        "stockman init lab --preset fifteen-node --network 127.66.0.0/16",
        "nodes.vm.nics",
        "nodes[0].vm.nics[1].vlan_id",
        "hosts.pve-a.pools",
        "cluster_pod_cidr",
        "nodes.yaml",
        "kubernetes/apps",
        "memory: 16384",
    ],
)
def test_names_that_exist_and_other_words_are_fine(text: str) -> None:
    assert find_mistake(text) == ""
