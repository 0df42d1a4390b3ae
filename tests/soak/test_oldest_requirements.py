"""The oldest versions that pyproject.toml allows are enough."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from tests.cli.running import clean

ROOT = Path(__file__).parents[2]
_SUITES = ("tests/cli", "tests/adapters", "tests/proxmox", "tests/talos/api")
_RUNNER = ("pytest", "pytest-xdist", "hypothesis", "jsonschema", "packaging")
"""What tests need besides, in any version."""
_PATIENCE = 1800


def oldest() -> list[str]:
    """Every dependency, pinned to the least version that it may have."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    found = []
    for one in map(Requirement, dependencies):
        (least,) = [each.version for each in one.specifier if each.operator == ">="]
        found.append(f"{one.name}=={least}")
    return found


def test_the_oldest_versions_that_are_allowed_are_enough(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "old")], check=True)
    python = str(tmp_path / "old" / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", *oldest(), *_RUNNER]
    subprocess.run(install, check=True, timeout=_PATIENCE)

    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *_SUITES],
        cwd=ROOT,
        env=clean(HOME=str(tmp_path), PYTHONPATH=f"{ROOT / 'src'}:{ROOT}"),
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-4000:]
