"""Every preset on every version over the wire, and runs that are killed all the time."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.real.apply import stories
from tests.real.apply.herd import APPLY, with_token
from tests.real.apply.killed import KilledAllTheTime, ResumedElsewhere
from tests.real.apply.scene import Kind
from tools.pytest_plugin import RealTool

TALOS = ("1.11.6", "1.12.11", "1.13.9", "1.14.1")
PVE = ("8.4", "9.1")
NETWORKS = {
    "single": "127.108.1.0/24",
    "three-node": "127.108.3.0/24",
    "fifteen-node": "127.108.14.0/23",
    "home": "127.108.5.0/24",
}


@pytest.mark.parametrize("preset", ["single", "three-node", "fifteen-node"])
@pytest.mark.parametrize("talos", TALOS)
@pytest.mark.parametrize("pve", PVE)
def test_every_preset_becomes_a_cluster_that_works(
    preset: str, talos: str, pve: str, tmp_path: Path, real_tool: RealTool
) -> None:
    kind = Kind(preset=preset, talos=talos, pve=pve, network=NETWORKS[preset])
    with ExitStack() as stack:
        token = with_token(kind, tmp_path, stack)
        token.scene.without_administrator()
        stories.the_second_run_changes_nothing(token)
        stories.talosctl_finds_health(token, real_tool)
        stories.an_etcd_snapshot_is_whole(token, real_tool)
        stories.kubectl_finds_ready_nodes(token, real_tool)
        stories.flux_finds_everything_ready(token, real_tool)


@pytest.mark.parametrize("pve", PVE)
def test_guests_without_a_cluster_are_made(pve: str, tmp_path: Path) -> None:
    kind = Kind(preset="home", talos="", pve=pve, network=NETWORKS["home"])
    with ExitStack() as stack:
        token = with_token(kind, tmp_path, stack)
        token.scene.without_administrator()
        stories.the_second_run_changes_nothing(token)


@pytest.mark.parametrize("lines", [8, 13, 21])
@pytest.mark.parametrize("preset", ["single", "three-node"])
def test_a_run_whose_processes_live_briefly_comes_to_its_end(
    preset: str, lines: int, tmp_path: Path, real_tool: RealTool
) -> None:
    kind = Kind(preset=preset, talos="1.13.9", pve="9.1", network=NETWORKS[preset])
    with ExitStack() as stack:
        made = KilledAllTheTime(lines)(kind, tmp_path, stack)
        made.scene.without_administrator()
        stories.the_second_run_changes_nothing(made)
        stories.talosctl_finds_health(made, real_tool)
        stories.kubectl_finds_ready_nodes(made, real_tool)


@pytest.mark.parametrize(
    "moment", ["images/fetch/", "vms/create/talos-1: started", "talos/bootstrap: started"]
)
def test_who_has_not_what_was_never_pushed_is_told_so_and_begins_anew(
    moment: str, tmp_path: Path, real_tool: RealTool
) -> None:
    kind = Kind(preset="single", talos="1.13.9", pve="9.1", network=NETWORKS["single"])
    with ExitStack() as stack:
        made = ResumedElsewhere(real_tool("versitygw"), moment)(kind, tmp_path, stack)
        scene, environment = made.scene, dict(made.scene.environment)
        scene.without_administrator()
        # Who comes after all machines were made needs no token to end the run, and one to plan.
        assert made.ran.status == (0 if moment.startswith("talos") else 4), made.ran
        assert "error[proxmox.no-token]" in scene.stockman("plan").err
        scene.environment = environment
        made.ran = scene.stockman(*APPLY)
        scene.without_administrator()
        stories.the_second_run_changes_nothing(made)
        stories.kubectl_finds_ready_nodes(made, real_tool)
