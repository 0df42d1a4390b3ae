"""What clients are told about a lab that runs."""

from __future__ import annotations

import stat
from pathlib import Path

from stockman.app.lab.environment import environment
from stockman.app.lab.places import LabPlaces
from stockman.lab.doors.serving import Serving
from tests.lab.ssh.doors import place, served


def test_who_asks_learns_how_to_log_in(tmp_path: Path) -> None:
    places = LabPlaces(state=tmp_path / "lab.state")

    async def step(serving: Serving) -> tuple[dict[str, str], int]:
        return environment(serving, places, tag="test"), place(serving).ssh_port

    found, port = served(tmp_path, step)

    key = Path(found["STOCKMAN_LAB_SSH_KEY"])
    assert key.read_text() == found["PROXMOX_VE_SSH_PRIVATE_KEY"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert found["PROXMOX_VE_SSH_USERNAME"] == "root"
    assert found["PROXMOX_VE_SSH_AGENT"] == "false"
    assert f"pve1={place_of(found)}:{port}" in found["STOCKMAN_LAB_SSH"].split(",")


def place_of(found: dict[str, str]) -> str:
    """The address of the first host."""
    return found["PROXMOX_VE_ENDPOINT"].removeprefix("https://").partition(":")[0]
