"""A cluster that is made once, and a copy of it for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.drift.scene import NO_HA, Made, Scene, made


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Three nodes, as stockman made them."""
    return made(tmp_path_factory.mktemp("drift"))


@pytest.fixture
def scene(cluster: Made, tmp_path: Path) -> Scene:
    """A cluster of its own."""
    return cluster.copy(tmp_path / "scene")


@pytest.fixture(scope="session")
def unwatched_cluster(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The same without high availability, so that stockman alone moves machines."""
    return made(tmp_path_factory.mktemp("unwatched"), edits=(("nodes.yaml", NO_HA, ""),))


@pytest.fixture
def unwatched(unwatched_cluster: Made, tmp_path: Path) -> Scene:
    """A cluster of its own that high availability does not look after."""
    return unwatched_cluster.copy(tmp_path / "unwatched")
