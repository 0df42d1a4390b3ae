"""The page of the lab's Kubernetes says what the lab serves, and what is compared."""

from __future__ import annotations

import pytest
from stockman_lab.kube.schema.types import Types

from scripts.write_lab_kubernetes_page import PLACE, text
from tests.real.kubectl.explained import OF_THE_LAB, OF_THE_OTHER_SIDE
from tests.real.kubectl.simulated import ACTED
from tests.real.kubectl.stories.all import STORIES

LEAST = 80
"""So many commands at least are compared."""


def test_the_page_is_what_is_written_from_the_lab() -> None:
    assert PLACE.read_text("utf-8") == text()


def test_enough_commands_are_compared_in_each_run() -> None:
    assert sum(len(list(one.commands)) for one in STORIES if not one.long) >= LEAST


def test_stories_have_names_of_their_own() -> None:
    names = [one.name for one in STORIES]

    assert len(set(names)) == len(names)


def test_what_is_said_of_kinds_is_said_of_kinds_that_are_there() -> None:
    known = {one.plural for one in Types.of_server().resources()}

    assert set(ACTED) <= known


@pytest.mark.parametrize("one", [*OF_THE_LAB, *OF_THE_OTHER_SIDE], ids=lambda one: one.name)
def test_an_explained_difference_is_about_a_command_that_is_compared(one: object) -> None:
    from tests.real.kubectl.explained import Explained

    assert isinstance(one, Explained)
    lines = [command.line for story in STORIES for command in story.commands]

    assert any(one.fits(line) for line in lines)
