"""Every test of the contract runs on every door."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.repo.doors import BACKENDS, Story


@pytest.fixture(params=sorted(BACKENDS))
def tell(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Story], None]:
    """Tells a story to a fresh repository behind one door."""
    nothing = tmp_path / "nothing"
    nothing.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(nothing))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def told(story: Story) -> None:
        asyncio.run(BACKENDS[request.param](story, tmp_path))

    return told
