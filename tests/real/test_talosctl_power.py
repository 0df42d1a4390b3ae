"""talosctl lets machines of the lab reboot, upgrade, roll back, reset and go out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.talos.served import served, staged
from tests.real.talos.stories import power
from tools.pytest_plugin import RealTool


@pytest.mark.parametrize(
    ("client", "server", "modes"),
    [
        ("1.11.5", "1.11.5", ("default",)),
        ("1.12.1", "1.13.9", ("powercycle",)),
        ("1.13.9", "1.13.9", ("force",)),
        ("1.14.1", "1.14.1", ("default",)),
    ],
)
def test_machines_reboot(
    client: str, server: str, modes: tuple[str, ...], tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        power.machines_reboot(lab, client, server, modes)
        power.a_machine_shuts_down(lab, client)


@pytest.mark.parametrize(("client", "server"), [("1.12.1", "1.11.5"), ("1.14.1", "1.14.1")])
def test_parts_are_wiped(client: str, server: str, tmp_path: Path, real_tool: RealTool) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        power.parts_are_wiped(lab, client)


def test_a_member_resets_gracefully(tmp_path: Path, real_tool: RealTool) -> None:
    with served(staged("three-node", "1.12.1"), tmp_path, real_tool) as lab:
        power.a_member_resets_gracefully(lab, "1.13.9")


@pytest.mark.parametrize(
    ("client", "server", "target"),
    [
        ("1.11.5", "1.11.5", "1.12.1"),
        ("1.12.1", "1.12.1", "1.13.9"),
        ("1.13.9", "1.13.9", "1.14.1"),
        ("1.14.1", "1.13.9", "1.14.1"),
    ],
)
def test_a_machine_is_upgraded(
    client: str, server: str, target: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        power.a_machine_is_upgraded(lab, client, server, target)


@pytest.mark.parametrize(
    ("client", "server", "target", "stage"),
    [("1.13.9", "1.13.9", "1.14.1", False), ("1.14.1", "1.13.9", "1.14.1", True)],
)
def test_a_machine_is_upgraded_the_old_way(
    client: str, server: str, target: str, stage: bool, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        power.a_machine_is_upgraded_the_old_way(lab, client, target, stage=stage)


def test_etcd_is_guarded(tmp_path: Path, real_tool: RealTool) -> None:
    with served(staged("three-node", "1.12.1"), tmp_path, real_tool) as lab:
        power.etcd_is_guarded(lab, "1.13.9", "1.12.1", "1.13.9")


def test_an_upgrade_drains_the_node_before_it_reboots(tmp_path: Path, real_tool: RealTool) -> None:
    with served(staged("single", "1.13.9"), tmp_path, real_tool) as lab:
        power.drains_before_it_reboots(lab.talosctl("1.14.1"), lab, "1.14.1")
