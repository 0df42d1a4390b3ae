"""Metrics of a cluster: what they say, and that what is not known has no value."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from stockman.assessment.prometheus import prometheus_text
from stockman.assessment.status.findings import StatusCheck
from stockman.assessment.status.metrics import status_metrics
from stockman.assessment.status.observed import ObservedBackup, StatusInput
from stockman.assessment.status.status import ALL, assess
from stockman.model.policies import Backup
from tests.app.status.scene import NEO, Scene

CHECKS = tuple(one for one in ALL if one is not StatusCheck.CERTIFICATES)


def text(seen: StatusInput, checks: tuple[StatusCheck, ...] = CHECKS) -> list[str]:
    return prometheus_text(status_metrics(assess(seen, checks), seen)).splitlines()


def test_a_cluster_that_works_is_healthy(here: Scene) -> None:
    lines = text(here.look())

    assert 'stockman_healthy{cluster="k8s"} 1' in lines
    assert 'stockman_check_state{cluster="k8s",check="etcd",state="ok"} 1' in lines
    assert 'stockman_check_state{cluster="k8s",check="etcd",state="error"} 0' in lines
    assert 'stockman_node_healthy{cluster="k8s",node="talos-neo",role="controller"} 1' in lines
    assert 'stockman_etcd_healthy_voters{cluster="k8s"} 3' in lines
    assert not [line for line in lines if line.startswith("stockman_problems{")]


def test_problems_are_counted_by_kind(here: Scene) -> None:
    here.stop(NEO)

    lines = text(here.look())

    labels = 'cluster="k8s",check="vms",code="status.vm-stopped",severity="error"'
    assert f"stockman_problems{{{labels}}} 1" in lines
    assert 'stockman_node_healthy{cluster="k8s",node="talos-neo",role="controller"} 0' in lines
    assert 'stockman_healthy{cluster="k8s"} 0' in lines


def test_nodes_are_not_judged_from_a_part_of_their_links(here: Scene) -> None:
    lines = text(here.look([StatusCheck.ETCD]), (StatusCheck.ETCD,))

    assert not [line for line in lines if line.startswith("stockman_node_healthy{")]


def test_a_target_that_nobody_could_list_has_no_newest_snapshot(here: Scene) -> None:
    seen = here.look()
    newest = seen.at - timedelta(hours=1)
    seen = replace(
        seen,
        desired=replace(seen.desired, backup=Backup(enabled=True)),
        backups=(
            ObservedBackup(target="s3", where="s3://etcd", count=1, newest=newest),
            ObservedBackup(target="disk", where="backups", why="denied"),
        ),
    )

    found = [line for line in text(seen) if line.startswith("stockman_backup_newest")]

    assert len(found) == 1
    assert 'target="s3"' in found[0]
