"""Modules that `validate` and `render` import: importing takes most of their time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.inside import ran_inside
from tests.cli.kept_keys import with_keys
from tests.cli.running import PATIENCE, clean

MOST_MODULES = {"validate": 141, "render": 209}
"""Modules of stockman. Raise a number only for a module that the command needs."""
NOT_NEEDED = {
    *("asyncio", "cryptography.x509", "jinja2", "multiprocessing", "shutil", "tempfile", "tomllib"),
    *("stockman.adapters.proxmox", "stockman.config.presets", "stockman.planning"),
    *("stockman.rendering.graph", "stockman.rendering.topf", "stockman.steps"),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("workspace")
    ran = ran_inside("init", str(with_keys(directory)), "--preset", "fifteen-node", "--yes")
    assert ran.status == 0, ran.err
    return directory


@pytest.mark.parametrize("command", MOST_MODULES)
def test_a_command_imports_only_what_it_needs(command: str, workspace: Path) -> None:
    program = (
        "import sys\n"
        "from stockman.cli.main import main\n"
        f"sys.argv = ['stockman', '-q', '-C', {str(workspace)!r}, {command!r}]\n"
        "try: main()\n"
        "finally: sys.stdout.write(' '.join(sys.modules))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=clean(),
        timeout=PATIENCE,
        check=True,
    )

    modules = run.stdout.split()
    ours = [name for name in modules if name.partition(".")[0] == "stockman"]
    assert NOT_NEEDED.isdisjoint(modules)
    assert len(ours) <= MOST_MODULES[command]
