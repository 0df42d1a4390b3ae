"""Every story of the contract is told at every door."""

import pytest

from tests.contract.kubernetes.doors import BACKENDS, Backend


@pytest.fixture(params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    """One door."""
    return BACKENDS[request.param]
