"""talosctl with whole clusters of the lab: health, upgrades that drain, `upgrade-k8s`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.talos.clusters import ACCESS, Kind, whole
from tests.real.talos.stories import whole as stories
from tools.pytest_plugin import RealTool

NETWORKS = {"1.11.5": "127.96", "1.12.1": "127.97", "1.13.9": "127.98", "1.14.1": "127.99"}


@pytest.mark.parametrize("version", NETWORKS)
def test_a_cluster_of_talos_own_is_healthy_and_gets_a_new_kubernetes(
    version: str, tmp_path: Path, real_tool: RealTool
) -> None:
    network = f"{NETWORKS[version]}.1.0/24"
    kind = Kind(preset="single", version=version, network=network, brings_own=True)
    with whole(kind, tmp_path, real_tool) as lab:
        stories.health_is_whole(lab, version, set())
        stories.kubernetes_is_upgraded(lab, version, has_proxy=True)


def test_an_upgrade_moves_pods_as_their_budget_allows(tmp_path: Path, real_tool: RealTool) -> None:
    kind = Kind(preset="three-node", version="1.13.9", network="127.98.2.0/24")
    with whole(kind, tmp_path, real_tool) as lab:
        skipped = stories.skipped_without_own_network("1.13.9")
        stories.health_is_whole(lab, "1.13.9", skipped)
        stories.an_upgrade_drains(lab, "1.13.9", "1.14.1")


def test_pods_get_access_to_talos_as_the_configuration_allows(
    tmp_path: Path, real_tool: RealTool
) -> None:
    network = "127.98.3.0/24"
    kind = Kind(preset="single", version="1.13.9", network=network, brings_own=True, patch=ACCESS)
    with whole(kind, tmp_path, real_tool) as lab:
        stories.pods_get_access(lab, "1.13.9")
