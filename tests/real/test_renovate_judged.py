"""Renovate's configuration is judged by Renovate."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stockman.config.language import Dialect
from stockman.config.presets import render_preset
from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING
from tests.real.renovate import committed, extracted, pinned, written
from tests.rendering.shapes import drawn, shaped
from tools.pytest_plugin import RealTool

TALOS, KUBERNETES = "siderolabs/talos", "ghcr.io/siderolabs/kubelet"
TERRAFORM = """\
variable "talos_version" {
  type    = string
  default = "v1.11.5"
}

variable "kubernetes_version" {
  type    = string
  default = "1.32.13"
}
"""


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_the_validator_accepts_it(real_tool: RealTool, tmp_path: Path, dialect: Dialect) -> None:
    written(drawn(shaped(), dialect), tmp_path)

    done = subprocess.run(
        [
            real_tool("renovate-config-validator"),
            *("--strict", "--no-global", ".renovaterc.json5"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Config validated successfully" in done.stdout


def test_every_version_of_the_tree_is_found(real_tool: RealTool, tmp_path: Path) -> None:
    found = rendered(EVERYTHING, preset="fifteen-node")
    written(found, tmp_path)
    (tmp_path / "cluster.yaml").write_text(render_preset("fifteen-node")["cluster.yaml"])
    (tmp_path / "terraform").mkdir()
    (tmp_path / "terraform/variables.tf").write_text(TERRAFORM)
    committed(tmp_path)

    seen = extracted(real_tool("renovate"), tmp_path)

    expected = pinned(found)
    assert len(expected) > 25
    missing = {path: pins - seen.get(path, set()) for path, pins in expected.items()}
    assert {path: pins for path, pins in missing.items() if pins} == {}
    both = {(TALOS, "1.11.5"), (KUBERNETES, "1.32.13")}
    upgrades = "kubernetes/apps/system-upgrade/tuppr/config/upgrades.yaml"
    assert seen["cluster.yaml"] == both
    assert seen["terraform/variables.tf"] == both
    assert seen[upgrades] == both
    assert seen["talos/talenv.yaml"] == {(TALOS, "v1.11.5"), (KUBERNETES, "v1.32.13")}
    machines = "kubernetes/apps/kube-system/karpenter/config/machines.yaml"
    assert seen[machines] == {(TALOS, "1.11.5")}
    assert not [path for path in seen if ".sops." in path]
