"""From two files to a running cluster, over the wire: every minor of Talos, and Proxmox VE 8.4."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.real.apply import stories
from tests.real.apply.herd import Made
from tools.pytest_plugin import RealTool

every = pytest.mark.parametrize("cluster", ["1.11", "1.12", "1.13", "1.14", "8.4"])


@every
def test_the_second_run_finds_nothing_to_do_and_writes_nothing(cluster: str, made: Made) -> None:
    stories.the_second_run_changes_nothing(made)


@every
def test_real_programs_find_a_cluster_that_works(
    cluster: str, made: Made, real_tool: RealTool
) -> None:
    stories.talosctl_finds_health(made, real_tool)
    stories.an_etcd_snapshot_is_whole(made, real_tool)
    stories.kubectl_finds_ready_nodes(made, real_tool)
    stories.flux_finds_everything_ready(made, real_tool)


@pytest.mark.parametrize("cluster", ["1.14"])
@pytest.mark.parametrize("days", [20, -2])
def test_files_of_clients_are_renewed_before_and_after_their_end(
    cluster: str, days: int, made: Made, real_tool: RealTool
) -> None:
    stories.client_files_are_renewed(made, real_tool, timedelta(days=days))
