"""What holds for Kubernetes through any door."""

import pytest

from tests.contract.kubernetes.doors import Backend
from tests.contract.kubernetes.stories.every import EVERY


@pytest.mark.parametrize("story", EVERY)
def test_it_holds_that(backend: Backend, story: str) -> None:
    backend(EVERY[story])
