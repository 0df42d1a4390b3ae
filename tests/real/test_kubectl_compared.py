"""kubectl is told the same by the lab and by a real cluster, command by command."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real.kubectl.comparing import Telling
from tests.real.kubectl.stories.all import STORIES
from tests.real.kubectl.story import Story
from tests.real.kubectl.telling import told
from tools.pytest_plugin import RealTool

SHORT = [story for story in STORIES if not story.long]


@pytest.fixture(scope="module")
def tellings(
    tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool
) -> Iterator[dict[str, Telling]]:
    with told(SHORT, tmp_path_factory.mktemp("compared"), real_tool) as found:
        yield found


@pytest.mark.parametrize("story", SHORT, ids=lambda one: one.name)
def test_kubectl_says_the_same(story: Story, tellings: dict[str, Telling]) -> None:
    assert "\n\n".join(map(str, tellings[story.name].found)) == ""


def test_every_difference_of_the_lab_that_is_explained_is_there(
    tellings: dict[str, Telling],
) -> None:
    from tests.real.kubectl.explained import OF_THE_LAB

    used = {name for telling in tellings.values() for name in telling.used}

    assert {one.name for one in OF_THE_LAB} <= used
