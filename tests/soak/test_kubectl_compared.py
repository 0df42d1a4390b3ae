"""kubectl is told the same by the lab and by a real cluster: what `make real` leaves out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real.kubectl.comparing import Telling
from tests.real.kubectl.stories.all import STORIES
from tests.real.kubectl.story import Story
from tests.real.kubectl.telling import told
from tools.pytest_plugin import RealTool

LONG = [story for story in STORIES if story.long]


@pytest.fixture(scope="module")
def tellings(
    tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool
) -> Iterator[dict[str, Telling]]:
    with told(LONG, tmp_path_factory.mktemp("compared"), real_tool) as found:
        yield found


@pytest.mark.parametrize("story", LONG, ids=lambda one: one.name)
def test_kubectl_says_the_same(story: Story, tellings: dict[str, Telling]) -> None:
    assert "\n\n".join(map(str, tellings[story.name].found)) == ""
