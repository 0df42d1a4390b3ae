"""How Ceph is, by what is away."""

from __future__ import annotations

import pytest
from stockman_lab.kube.helm.ceph_daemons import Daemon
from stockman_lab.kube.helm.ceph_health import Found, health

ALL = [
    *(Daemon("mon", one, f"n{number}") for number, one in enumerate("abc")),
    *(Daemon("mgr", one, f"n{number}") for number, one in enumerate("ab")),
    *(Daemon("osd", str(one), f"n{one // 2}") for one in range(6)),
]


@pytest.mark.parametrize(
    ("away", "word", "checks"),
    [
        ([], "HEALTH_OK", {}),
        (["osd-0"], "HEALTH_WARN", {"OSD_DOWN": "1 osds down"}),
        (["osd-0", "osd-1"], "HEALTH_WARN", {"OSD_HOST_DOWN": "1 host (2 osds) down"}),
        (
            ["osd-0", "osd-1", "osd-2", "osd-3"],
            "HEALTH_WARN",
            {"PG_AVAILABILITY": "Reduced data availability: 33 pgs inactive"},
        ),
        (["mon-b"], "HEALTH_WARN", {"MON_DOWN": "1/3 mons down, quorum a,c"}),
        (["mgr-a"], "HEALTH_OK", {}),
        (["mgr-a", "mgr-b"], "HEALTH_WARN", {"MGR_DOWN": "no active mgr"}),
        (
            ["mon-a", "mon-b"],
            "HEALTH_ERR",
            {"error": "failed to get status. . timed out: exit status 1"},
        ),
    ],
)
def test_what_is_away_is_told(away: list[str], word: str, checks: dict[str, str]) -> None:
    down = [one for one in ALL if one.name.removeprefix("rook-ceph-") in away]
    told = health(Found(ALL, down, False, None))
    assert told.word == word
    assert {name: told.details[name]["message"] for name in checks} == checks
    assert bool(told.details) is (word != "HEALTH_OK")


def test_copies_are_missing_though_all_disks_are_there() -> None:
    told = health(Found(ALL, [], True, None))
    assert (told.word, list(told.details)) == ("HEALTH_WARN", ["PG_DEGRADED"])


def test_a_cluster_without_disks_says_so() -> None:
    told = health(Found(ALL[:5], [], False, None))
    assert (told.word, list(told.details)) == ("HEALTH_WARN", ["TOO_FEW_OSDS"])
