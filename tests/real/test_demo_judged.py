"""The whole demo, and real clients in the directory that it keeps."""

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

from demo.sandbox import end_processes
from demo.steps import DEMO_PRESETS, command_lines, follow_up_commands
from tests.demo.test_steps import shown_commands
from tests.docs.pages import ROOT
from tools.pytest_plugin import RealTool

PATIENCE = 400
_ROWS = 3
"""Minimum number of output lines: one per machine, and a heading."""
THREE_NODE = DEMO_PRESETS["three-node"]


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "HOME": str(home),
        "TMPDIR": str(home),
        "STOCKMAN_OUTPUT": "json",
        "STOCKMAN_DIR": "/nowhere",
    }


def start_demo(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the demo in the foreground: background processes of shells ignore SIGINT."""
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


def test_real_clients_work_with_the_cluster_of_the_demo(
    tmp_path: Path, real_tool: RealTool, record_property: Callable[[str, object], None]
) -> None:
    start = monotonic()
    process = start_demo(tmp_path, "--keep")
    output, _ = process.communicate(timeout=PATIENCE)
    seconds = monotonic() - start
    try:
        assert process.returncode == 0, output[-2000:]
        record_property("make demo, three-node", f"{seconds:.0f} s")
        commands = shown_commands(output.split("\n"))
        network = commands[0].rpartition(" ")[2]
        assert commands == command_lines(THREE_NODE, network)
        (workspace,) = tmp_path.glob(f"stockman-demo-*/{THREE_NODE.directory}")
        for line in follow_up_commands(THREE_NODE, network):
            program, *arguments = shlex.split(line)
            if program == "stockman":
                continue
            result = subprocess.run(
                [str(real_tool(program)), *arguments],
                cwd=workspace,
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                check=False,
            )
            assert result.returncode == 0, result.stderr
            assert result.stdout.count("\n") > _ROWS
    finally:
        end_processes(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_demo_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    process = start_demo(tmp_path)
    assert process.stdout is not None
    before = []
    for line in process.stdout:
        before.append(line)
        if line.startswith("$ stockman validate"):
            break
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 130, "".join(before) + output
    assert list(tmp_path.glob("stockman-demo-*")) == []
