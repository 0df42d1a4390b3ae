"""The page about Kubernetes of the lab is up to date."""

from __future__ import annotations

import pytest
from stockman_lab.kube.schema.types import Types

from scripts.write_lab_kubernetes_page import PLACE, text
from tests.real.kubectl.explained import OF_THE_LAB, OF_THE_OTHER_SIDE
from tests.real.kubectl.simulated import ACTED
from tests.real.kubectl.stories.all import STORIES

MIN_COMMANDS = 80
"""Minimum number of compared commands."""


def test_the_page_is_up_to_date() -> None:
    assert PLACE.read_text("utf-8") == text()


def test_enough_commands_are_compared_in_each_run() -> None:
    assert sum(len(list(story.commands)) for story in STORIES if not story.long) >= MIN_COMMANDS


def test_stories_have_different_names() -> None:
    names = [story.name for story in STORIES]

    assert len(set(names)) == len(names)


def test_described_kinds_exist() -> None:
    known = {resource.plural for resource in Types.of_server().resources()}

    assert set(ACTED) <= known


@pytest.mark.parametrize(
    "difference", [*OF_THE_LAB, *OF_THE_OTHER_SIDE], ids=lambda difference: difference.name
)
def test_an_explained_difference_is_about_a_compared_command(difference: object) -> None:
    from tests.real.kubectl.explained import Explained

    assert isinstance(difference, Explained)
    lines = [command.line for story in STORIES for command in story.commands]

    assert any(difference.fits(line) for line in lines)
