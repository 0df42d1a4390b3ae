"""What clients are told about a lab that runs."""

from __future__ import annotations

import asyncio
import stat
from datetime import UTC, datetime
from pathlib import Path

import yaml
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.environment import environment
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving

from lab.tests.servers.talos_client import today
from lab.tests.ssh.doors import place, served
from lab.tests.talos.staged import staged
from lab.tests.worlds import small_world


def test_who_asks_learns_how_to_log_in(tmp_path: Path) -> None:
    files = LabFiles(state=tmp_path / "lab.state")

    async def step(serving: Serving) -> tuple[dict[str, str], int]:
        return environment(serving, files, tag="test"), place(serving).ssh_port

    found, port = served(tmp_path, step)

    key = Path(found["STOCKMAN_LAB_SSH_KEY"])
    assert key.read_text() == found["PROXMOX_VE_SSH_PRIVATE_KEY"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert found["PROXMOX_VE_SSH_USERNAME"] == "root"
    assert found["PROXMOX_VE_SSH_AGENT"] == "false"
    assert f"pve1={place_of(found)}:{port}" in found["STOCKMAN_LAB_SSH"].split(",")


def test_who_asks_learns_where_objects_and_repositories_are(tmp_path: Path) -> None:
    world = small_world()
    world.state.objects_address = "127.0.0.1"
    world.state.repositories["https://git.test/home.git"] = str(tmp_path / "home.git")
    files = LabFiles(state=tmp_path / "lab.state")

    async def told() -> dict[str, str]:
        manner = ServingOptions(port=0, objects_port=0, git_port=0)
        serving = Serving(world, manner, tmp_path, datetime(2026, 6, 1, tzinfo=UTC))
        await serving.start()
        try:
            return environment(serving, files, tag="test")
        finally:
            await serving.stop()

    result = asyncio.run(told())

    assert result["AWS_ENDPOINT_URL"].startswith("http://127.0.0.1:")
    assert world.state.objects.keys == {
        result["AWS_ACCESS_KEY_ID"]: result["AWS_SECRET_ACCESS_KEY"]
    }
    assert result["AWS_REGION"] == "us-east-1"
    assert result["STOCKMAN_LAB_GIT"].startswith("http://127.0.0.1:")


def test_machines_that_are_not_where_they_should_be_are_told_with_their_ports(
    tmp_path: Path,
) -> None:
    files = LabFiles(state=tmp_path / "lab.state")

    async def asked() -> dict[str, str]:
        manner = ServingOptions(port=0, images_port=0, talos_port=0)
        serving = Serving(staged(), manner, tmp_path, today())
        await serving.start()
        try:
            return environment(serving, files, tag="test")
        finally:
            await serving.stop()

    result = asyncio.run(asked())

    ports = dict(
        stockman_lab_port.split("=")
        for stockman_lab_port in result["STOCKMAN_LAB_PORTS"].split(",")
    )
    assert ports["talos-1"].startswith("127.67.0.11:")
    (context,) = yaml.safe_load(Path(result["TALOSCONFIG"]).read_text())["contexts"].values()
    assert context["endpoints"] == [ports["talos-1"]]
    assert context["nodes"] == ["127.67.0.11"]


def place_of(values: dict[str, str]) -> str:
    """The address of the first host."""
    return values["PROXMOX_VE_ENDPOINT"].removeprefix("https://").partition(":")[0]
