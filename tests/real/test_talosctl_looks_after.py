"""talosctl looks after machines of the lab: services, files, images, health, and who may what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.talos.served import served, staged
from tests.real.talos.stories import cluster, machine
from tools.pytest_plugin import RealTool


@pytest.mark.parametrize(
    ("client", "server"),
    [("1.11.5", "1.11.5"), ("1.12.1", "1.12.1"), ("1.13.9", "1.13.9"), ("1.14.1", "1.14.1")],
)
def test_a_machine_is_looked_after(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        machine.services_are_steered(lab, client)
        machine.values_are_kept(lab, client)
        machine.images_are_pulled(lab, client, server)


@pytest.mark.parametrize(("client", "server"), [("1.12.1", "1.13.9"), ("1.14.1", "1.13.9")])
def test_files_are_made_for_clients(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("single", server), tmp_path, real_tool) as lab:
        machine.files_are_made_for_clients(lab, client)
        machine.images_are_pulled(lab, client, server)


@pytest.mark.parametrize(("client", "server"), [("1.11.5", "1.12.1"), ("1.14.1", "1.14.1")])
def test_a_cluster_has_people_and_health(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(staged("three-node", server), tmp_path, real_tool) as lab:
        cluster.roles_are_kept(lab, client)
        cluster.nobody_is_let_in_late(lab, client)
        cluster.health_is_told(lab, client)
        cluster.rotation_is_rehearsed(lab, client)
        cluster.many_are_asked(lab, client)
        cluster.an_ill_member_is_told(lab, client)
