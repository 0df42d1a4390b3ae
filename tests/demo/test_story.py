"""What the demo shows, and the picture of it that the README has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from demo.picture import lines_of
from demo.stage import Called, Console, Unexpected, play, print_line, typed
from demo.story import CASTS, Cast, Enter, Run, afterwards, command_lines, story
from stockman.cli.registry import COMMANDS
from stockman.config.load import load
from stockman.config.presets import PRESETS, render_preset
from stockman.config.resolve import resolve
from tests.docs.pages import DOCS, ROOT

PICTURE = DOCS / "_static" / "demo.svg"
NETWORK = "127.66.0.0/16"
THREE = CASTS["three-node"]


def shown_commands(lines: list[str]) -> list[str]:
    """What stands behind prompts, with lines that were continued in one piece."""
    text = "\n".join(lines).replace(" \\\n   ", "")
    return [line.removeprefix("$ ") for line in text.split("\n") if line.startswith("$ ")]


def test_every_preset_can_be_shown() -> None:
    assert set(CASTS) == set(PRESETS)


@pytest.mark.parametrize("cast", CASTS.values(), ids=str)
def test_the_machine_that_is_hit_is_on_the_host_that_dies(cast: Cast) -> None:
    texts = render_preset(cast.preset)
    desired = resolve(load({name: text.encode() for name, text in texts.items()}))
    hosts = {str(node.name): str(node.vm.host) for node in desired.nodes if node.vm is not None}
    hosts |= {str(guest.name): str(guest.host) for guest in desired.guests}
    first = [node for node in desired.nodes if node.is_controller][:1]

    assert hosts[cast.node] == cast.unlucky
    assert [int(one.address.ip) & 0xFF for one in first] == [cast.first] * cast.has_cluster


@pytest.mark.parametrize("cast", CASTS.values(), ids=str)
def test_every_command_of_the_story_is_one_of_ours(cast: Cast) -> None:
    known = {name: len(name.split()) for name in COMMANDS}
    runs = [one for one in story(cast, NETWORK) if isinstance(one, Run)]
    shlexes = [shlex.split(run.arguments) for run in runs if run.program == "stockman"]

    assert all(" ".join(one[:1]) in known or " ".join(one[:2]) in known for one in shlexes)


def test_commands_for_afterwards_name_a_machine_of_the_network() -> None:
    assert "-n 127.71.0.16 " in " ".join(afterwards(THREE, "127.71.0.0/16"))


def test_long_lines_are_continued() -> None:
    line = "stockman lab up " + "--preset three-node " * 4 + "--repo flock"

    assert len(typed(line)) == 2
    assert shown_commands([f"$ {typed(line)[0]}", *typed(line)[1:]]) == [line]


def test_a_surprise_stops_the_demo(tmp_path: Path) -> None:
    def failing(called: Called, console: Console) -> int:
        del called, console
        return 70

    with pytest.raises(Unexpected, match="ended with 70 instead of 0"):
        play(story(THREE, NETWORK), print_line, tmp_path, failing)


def test_commands_run_where_the_story_is(tmp_path: Path) -> None:
    seen: list[Called] = []

    def noting(called: Called, console: Console) -> int:
        del console
        seen.append(called)
        return 0

    scenes = (Run("validate"), Enter("k8s"), Run("status", program="git"))
    play(scenes, print_line, tmp_path, noting)

    assert [one.directory for one in seen] == [tmp_path, tmp_path / "k8s"]
    assert seen[0].command[-2:] == ["stockman", "validate"]
    assert seen[1].command == ["git", "status"]


def test_the_picture_shows_the_commands_of_the_demo() -> None:
    lines = shown_commands(lines_of(PICTURE.read_text("utf-8")))
    network = lines[0].rpartition(" ")[2]

    assert lines == command_lines(THREE, network), "make it anew: python -m demo --record " + str(
        PICTURE.relative_to(ROOT)
    )


def test_the_picture_needs_nothing_from_outside() -> None:
    text = PICTURE.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    marks = re.sub(r"<text.*?</text>", "", text)

    assert re.findall(r"https?:|url\((?!#)|@import|<script|<image|xlink", marks) == []
