import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The parts of the tree that set-up reads, at a path with a space, with nothing set up."""
    tree = tmp_path / "a clone"
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tree)
    for package in ("src/stockman", "lab/src/stockman_lab"):
        (tree / package).mkdir(parents=True)
        shutil.copy(ROOT / package / "__init__.py", tree / package)
    shutil.copy(ROOT / "lab" / "pyproject.toml", tree / "lab")
    return tree
