"""The whole demo, and clients that believe what it leaves."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic  # noqa: TID251  # another process, in real time

import pytest

from demo.places import end_processes
from demo.story import CASTS, afterwards, command_lines
from tests.demo.test_story import shown_commands
from tests.docs.pages import ROOT
from tools.pytest_plugin import RealTool

PATIENCE = 400
_ROWS = 3
"""What has as many rows as the cluster has machines, and a line above them."""
THREE = CASTS["three-node"]


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "HOME": str(home),
        "TMPDIR": str(home),
        "STOCKMAN_OUTPUT": "json",
        "STOCKMAN_DIR": "/nowhere",
    }


def begun(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """A demo in the foreground: shells let what they start in the background ignore SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "demo", *arguments],
        cwd=ROOT,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def test_the_demo_ends_with_a_cluster_that_real_clients_see(
    tmp_path: Path, real_tool: RealTool, record_property: Callable[[str, object], None]
) -> None:
    since = monotonic()
    process = begun(tmp_path, "--keep")
    told, _ = process.communicate(timeout=PATIENCE)
    took = monotonic() - since
    try:
        assert process.returncode == 0, told[-2000:]
        record_property("make demo, three-node", f"{took:.0f} s")
        typed = shown_commands(told.split("\n"))
        network = typed[0].rpartition(" ")[2]
        assert typed == command_lines(THREE, network)
        (workspace,) = tmp_path.glob(f"stockman-demo-*/{THREE.directory}")
        for line in afterwards(THREE, network):
            program, *arguments = shlex.split(line)
            if program == "stockman":
                continue
            done = subprocess.run(
                [str(real_tool(program)), *arguments],
                cwd=workspace,
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert done.stdout.count("\n") > _ROWS
    finally:
        end_processes(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_stopped_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    process = begun(tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("$ stockman validate"):
            break
    process.send_signal(number)
    rest, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 130, rest
    assert [one for one in tmp_path.iterdir() if one.name.startswith("stockman-demo-")] == []
