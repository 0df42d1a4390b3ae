"""The real Karpenter for Proxmox VE makes a machine for a pod of the lab that has no place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from tools.pytest_plugin import RealTool

ROOT = Path(__file__).parents[2]
DISK = "33G"
"""What the program makes of 30 GiB: it counts in thousands, rounds up, and asks for so many GiB."""
UNSHARED = ("unshare", "--map-root-user", "--net")


def test_a_pod_without_a_place_gets_a_machine(tmp_path: Path, real_tool: RealTool) -> None:
    if not which("unshare") or subprocess.run([*UNSHARED, "true"], check=False).returncode:
        pytest.skip("no network of one's own can be had here")
    programs = ("kubectl", "karpenter-provider-proxmox", "check-karpenter-definitions")

    found = subprocess.run(
        [
            *(*UNSHARED, sys.executable, "-m", "tests.real.karpenter_script"),
            *(tmp_path, *(real_tool(program) for program in programs)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert found.returncode == 0, found.stderr + _end(tmp_path / "karpenter.log")
    seen = json.loads(found.stdout)
    assert (seen["claim"], seen["owner"]) == ("proxmox://pve/20000", "wool")
    assert "Nominated" in seen["events"].split()
    made = seen["machines"]["20000"]
    assert (made["cores"], made["memory"]) == ("4", "8192")
    assert made["scsi0"].endswith(f",size={DISK}")


def _end(log: Path) -> str:
    return log.read_text()[-3000:] if log.exists() else ""
