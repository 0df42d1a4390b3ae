"""Fixtures for the tests of `python -m tools`."""

import os
from pathlib import Path

import pytest

from tests.tools.machine import Gate, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with Go and a registry that knows every module of the table."""
    machine = Machine(tmp_path)
    for directory in (machine.bin, tmp_path / "home", tmp_path / "modules"):
        directory.mkdir()
    machine.install("go", Path(__file__).with_name("fake_go.py").read_text())
    machine.serve_all()
    return machine


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """A gate for builds, closed until the test lets one through."""
    gate = Gate(tmp_path / "gate")
    gate.root.mkdir()
    for name in ("started", "release"):
        os.mkfifo(gate.root / name)
    return gate
