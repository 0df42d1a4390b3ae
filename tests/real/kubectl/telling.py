"""Stories told one beside the other, for tests that ask how they went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.real.kubectl.clusters import both_clusters
from tests.real.kubectl.comparing import Telling, begin, tell
from tests.real.kubectl.story import Story
from tools.pytest_plugin import RealTool

AT_ONCE = 4


@contextmanager
def told(
    stories: Sequence[Story], place: Path, real_tool: RealTool
) -> Iterator[dict[str, Telling]]:
    """How stories went, by name; those that need the cluster for themselves come last."""
    with both_clusters(place, real_tool) as sides:
        begin(stories, sides)
        beside = [story for story in stories if not story.alone]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(lambda one: tell(one, sides, place), beside))
        found += [tell(story, sides, place) for story in stories if story.alone]
        yield {one.story.name: one for one in found}
