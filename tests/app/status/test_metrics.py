"""Metrics of a cluster: what they say, and that what is not known has no value."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from stockman.assessment.status.findings import StatusCheck
from stockman.assessment.status.metrics import prometheus_text, status_metrics
from stockman.assessment.status.observed import ObservedBackup, StatusInput
from stockman.assessment.status.status import ALL, assess
from stockman.model.policies import Backup
from tests.app.status.scene import NEO, Scene

CHECKS = tuple(check for check in ALL if check is not StatusCheck.CERTIFICATES)


def text(seen: StatusInput, checks: tuple[StatusCheck, ...] = CHECKS) -> list[str]:
    return prometheus_text(status_metrics(assess(seen, checks), seen)).splitlines()


def test_a_cluster_that_works_is_healthy(simulation: Scene) -> None:
    lines = text(simulation.look())

    assert 'stockman_healthy{cluster="k8s"} 1' in lines
    assert 'stockman_check_state{cluster="k8s",check="etcd",state="ok"} 1' in lines
    assert 'stockman_check_state{cluster="k8s",check="etcd",state="error"} 0' in lines
    assert 'stockman_node_healthy{cluster="k8s",node="talos-neo",role="controller"} 1' in lines
    assert 'stockman_etcd_healthy_voters{cluster="k8s"} 3' in lines
    assert not [line for line in lines if line.startswith("stockman_problems{")]


def test_problems_are_counted_by_kind(simulation: Scene) -> None:
    simulation.stop(NEO)

    lines = text(simulation.look())

    labels = 'cluster="k8s",check="vms",code="status.vm-stopped",severity="error"'
    assert f"stockman_problems{{{labels}}} 1" in lines
    assert 'stockman_node_healthy{cluster="k8s",node="talos-neo",role="controller"} 0' in lines
    assert 'stockman_healthy{cluster="k8s"} 0' in lines


def test_nodes_are_not_judged_from_a_part_of_their_links(simulation: Scene) -> None:
    lines = text(simulation.look([StatusCheck.ETCD]), (StatusCheck.ETCD,))

    assert not [line for line in lines if line.startswith("stockman_node_healthy{")]


def test_a_target_that_nobody_could_list_has_no_newest_snapshot(simulation: Scene) -> None:
    seen = simulation.look()
    newest = seen.at - timedelta(hours=1)
    seen = replace(
        seen,
        desired=replace(seen.desired, backup=Backup(enabled=True)),
        backups=(
            ObservedBackup(target="s3", where="s3://etcd", count=1, newest=newest),
            ObservedBackup(target="disk", where="backups", why="denied"),
        ),
    )

    lines = [line for line in text(seen) if line.startswith("stockman_backup_newest")]

    assert len(lines) == 1
    assert 'target="s3"' in lines[0]
