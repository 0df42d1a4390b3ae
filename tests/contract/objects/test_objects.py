"""What holds for object storage through any door."""

from __future__ import annotations

import pytest

from tests.contract.objects.doors import Door
from tests.contract.objects.stories import STORIES


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_story_holds(door: Door, name: str) -> None:
    door(STORIES[name])
