"""Every minor of Talos with whole clusters: health, upgrades that drain, `upgrade-k8s`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.talos.clusters import Kind, whole
from tests.real.talos.served import VERSIONS
from tests.real.talos.stories import whole as stories
from tools.pytest_plugin import RealTool


def network(version: str, place: int) -> str:
    """One for each release, and another one for each test of it."""
    return f"127.{91 + VERSIONS.index(version)}.{place}.0/24"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_cluster_with_cilium_is_healthy_and_gets_a_new_kubernetes(
    version: str, tmp_path: Path, real_tool: RealTool
) -> None:
    kind = Kind(preset="three-node", version=version, network=network(version, 1))
    with whole(kind, tmp_path, real_tool) as lab:
        stories.health_is_whole(lab, version, stories.skipped_without_own_network(version))
        stories.kubernetes_is_upgraded(lab, version, has_proxy=False)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgrade_moves_pods_as_their_budget_allows(
    version: str, tmp_path: Path, real_tool: RealTool
) -> None:
    kind = Kind(preset="three-node", version=version, network=network(version, 2))
    target = VERSIONS[min(VERSIONS.index(version) + 1, len(VERSIONS) - 1)]
    with whole(kind, tmp_path, real_tool) as lab:
        stories.an_upgrade_drains(lab, version, target)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_cluster_of_talos_own_with_three_machines(
    version: str, tmp_path: Path, real_tool: RealTool
) -> None:
    own = Kind(preset="three-node", version=version, network=network(version, 3), brings_own=True)
    with whole(own, tmp_path, real_tool) as lab:
        stories.health_is_whole(lab, version, set())
        stories.kubernetes_is_upgraded(lab, version, has_proxy=True)
