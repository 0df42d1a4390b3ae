"""What a host would have to know to join the cluster."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.worlds import door, small_world


def test_who_wants_to_join_is_told_of_all_hosts() -> None:
    cluster_config_join = door().get("/cluster/config/join", node="pve2")
    assert isinstance(cluster_config_join, dict)
    assert cluster_config_join["preferred_node"] == "pve2"
    assert [row["pve_addr"] for row in cluster_config_join["nodelist"]] == [
        "127.66.0.11",
        "127.66.0.12",
        "127.66.0.13",
    ]


def test_a_host_of_the_cluster_has_to_be_preferred() -> None:
    with pytest.raises(ApiError, match="unknown node 'pve9'"):
        door().get("/cluster/config/join", node="pve9")


def test_nobody_can_join_a_host_that_stands_alone() -> None:
    alone = door(small_world(hosts=1))
    assert alone.get("/cluster/config/nodes") == []
    reply = alone.reply("GET", "/cluster/config/join")
    assert (reply.status, reply.reason) == (
        424,
        "node is not in a cluster, no join info available!",
    )
