"""Conditions that tests of several adapters need."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def closed_directory_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory on PATH that only root may read, as those of other users are."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    monkeypatch.setenv("PATH", f"{closed}{os.pathsep}{os.environ['PATH']}")
