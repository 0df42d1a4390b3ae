"""Every story of the contract is told at every door."""

import pytest

from tests.contract.kubernetes.doors import DOORS, Door


@pytest.fixture(params=sorted(DOORS))
def door(request: pytest.FixtureRequest) -> Door:
    """One door."""
    return DOORS[request.param]
