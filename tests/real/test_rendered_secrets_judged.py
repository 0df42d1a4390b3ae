"""Secret files of a rendered repository are judged by sops: it opens every one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stockman.config.language import Dialect
from tools.pytest_plugin import RealTool

MORE = """\
components:
  proxmox-ccm:
    enabled: true
    token_secret: file:token.txt
  proxmox-csi:
    enabled: true
    token_secret: file:token.txt
    storage: local-zfs
"""
WRITTEN = "00000000-0000-4000-8000-0000000000aa"


def stockman(place: Path, *arguments: str) -> str:
    """What a command prints; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-m", "stockman", *arguments],
        cwd=place,
        env={**os.environ, "PROXMOX_TOKEN_SECRET": WRITTEN, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_sops_opens_every_secret_file(
    real_tool: RealTool, tmp_path: Path, dialect: Dialect
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, timeout=60)
    stockman(tmp_path, "init", ".", "--preset", "three-node", "--dialect", dialect)
    if dialect == "classic":
        (tmp_path / "token.txt").write_text(f"{WRITTEN}\n")
        with (tmp_path / "cluster.yaml").open("a") as file:
            file.write(MORE)

    stockman(tmp_path, "render")

    files = [path for path in tmp_path.rglob("*.sops.*") if path.name != ".sops.yaml"]
    assert len(files) >= 4
    for path in files:
        done = subprocess.run(
            [real_tool("sops"), "decrypt", path],
            cwd=tmp_path,
            env={**os.environ, "SOPS_AGE_KEY_FILE": str(tmp_path / "age.key")},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, f"{path}: {done.stderr}"
        content = yaml.safe_load(done.stdout)
        is_bundle = path.parent == tmp_path / "talos"
        assert is_bundle or (content["kind"] == "Secret" and content["stringData"])
        assert all(text not in path.read_text() for text in _hidden(content))


def _hidden(content: dict[str, object]) -> list[str]:
    values = content.get("stringData")
    return [str(value) for value in values.values() if value] if isinstance(values, dict) else []
