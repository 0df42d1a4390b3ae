"""Every test of the contract runs on every door."""

import pytest

from tests.contract.talos.doors import BACKENDS, Backend


@pytest.fixture(params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    """One door."""
    return BACKENDS[request.param]
