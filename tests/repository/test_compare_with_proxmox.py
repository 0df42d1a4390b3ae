"""The comparison with a real Proxmox VE asks with GET only, and prints shapes, never values."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.compare_with_proxmox import differences, main
from stockman.lab.pve.schema.schema import Schema
from stockman.lab.testing.thread import ProxmoxLab


def told(tmp_path: Path, lab: ProxmoxLab) -> int:
    token = tmp_path / "token"
    token.write_text(f"{lab.token_id}={lab.token_secret}\n")
    return main([lab.endpoint, "--token-file", str(token), "--ca", str(lab.ca)])


@pytest.mark.proxmox_lab(preset="home")
def test_the_lab_is_compared_with_itself_and_nothing_is_changed(
    tmp_path: Path, proxmox_lab: ProxmoxLab, capsys: pytest.CaptureFixture[str]
) -> None:
    version = proxmox_lab.world.clusters["pve"].state.cfs_version
    told(tmp_path, proxmox_lab)
    printed = capsys.readouterr()
    assert "calls compared" in printed.err
    assert int(printed.err.split()[0]) > 5
    assert "fun-bedbug" not in printed.out + printed.err
    assert proxmox_lab.world.clusters["pve"].state.cfs_version == version


def test_what_the_schema_does_not_know_is_told_by_name_and_kind() -> None:
    shape = Schema.of("9.1").operation("GET", "/version").returns
    found = list(differences(shape, {"release": "9.1", "wool": 3}, "/version"))
    assert found == ["/version.wool is not in the schema (int)"]


def test_another_kind_is_told() -> None:
    shape = Schema.of("9.1").operation("GET", "/nodes/{node}/tasks/{upid}/status").returns
    found = list(differences(shape, {"pid": [1]}, "/status"))
    assert found == ["/status.pid is list, and integer is promised"]
