"""A cluster that is made once, and a copy of it for every test."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.app.drift.scene import NO_HA, Made, Scene, made


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Three nodes, as stockman made them."""
    return _of_one_worker(tmp_path_factory, "drift")


@pytest.fixture
def scene(cluster: Made, tmp_path: Path) -> Scene:
    """A cluster of its own."""
    return cluster.copy(tmp_path / "scene")


@pytest.fixture(scope="session")
def unwatched_cluster(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The same without high availability, so that stockman alone moves machines."""
    return _of_one_worker(tmp_path_factory, "unwatched", ("nodes.yaml", NO_HA, ""))


@pytest.fixture
def unwatched(unwatched_cluster: Made, tmp_path: Path) -> Scene:
    """A cluster of its own that high availability does not look after."""
    return unwatched_cluster.copy(tmp_path / "unwatched")


def _of_one_worker(
    temp_path_factory: pytest.TempPathFactory, name: str, *edits: tuple[str, str, str]
) -> Made:
    """A cluster that one worker makes, and all others find."""
    base = temp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    root, world = base / name, base / f"{name}.world"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not world.is_file():
            world.write_bytes(made(root, edits=edits).world)
    return Made(root, world.read_bytes())
