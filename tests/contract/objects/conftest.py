"""Every test of the contract runs on every door."""

import pytest

from tests.contract.objects.doors import DOORS, Door


@pytest.fixture(params=sorted(DOORS))
def door(request: pytest.FixtureRequest) -> Door:
    """One door."""
    return DOORS[request.param]
