"""Clusters to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.status.scene import Scene, scene


@pytest.fixture
def simulation(tmp_path: Path) -> Scene:
    """A cluster of three controllers that runs."""
    return scene(tmp_path)
