"""What holds for Kubernetes through any door."""

import pytest

from tests.contract.kubernetes.doors import Door
from tests.contract.kubernetes.stories.every import EVERY


@pytest.mark.parametrize("story", EVERY)
def test_it_holds_that(door: Door, story: str) -> None:
    door(EVERY[story])
