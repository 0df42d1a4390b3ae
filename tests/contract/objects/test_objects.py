"""What holds for object storage through any door."""

from __future__ import annotations

import pytest

from tests.contract.objects.doors import Backend
from tests.contract.objects.stories import STORIES


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_story_holds(backend: Backend, name: str) -> None:
    backend(STORIES[name])
