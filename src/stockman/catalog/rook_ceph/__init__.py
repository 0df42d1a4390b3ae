"""Rook-Ceph: volumes on a Ceph cluster that runs elsewhere, such as on Proxmox VE itself."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, crd_condition, deployment_condition
from stockman.catalog.objects import chart_sheets, is_monitoring_on
from stockman.catalog.rook_ceph.drivers import drivers
from stockman.catalog.rook_ceph.external import connection, external_cluster, storage_classes
from stockman.catalog.rook_ceph.settings import (
    FILESYSTEM_SECRETS,
    SECRETS,
    RookCephSettings,
    check,
    missing_secrets,
)
from stockman.catalog.smoke_tests import volume_smoke_test


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        "csi": {"installCsiOperator": True},
        "monitoring": {"enabled": is_monitoring_on(scene)},
    }
    namespace = scene.namespace
    yield App(name="rook-ceph", namespace=namespace, sheets=chart_sheets(scene, values))
    yield App(
        name="rook-ceph-drivers", namespace=namespace, folder="drivers", sheets=drivers(scene)
    )
    missing = missing_secrets(scene)
    yield App(
        name="rook-ceph-config",
        namespace=namespace,
        folder="config",
        sheets=(
            Sheet(name="cluster.yaml", objects=(external_cluster(scene),)),
            Sheet(name="storageclasses.yaml", objects=storage_classes(scene)),
            *connection(scene),
        ),
        pending=f"secrets of the Ceph cluster: {', '.join(missing)}" if missing else "",
    )


COMPONENT = Component(
    name="rook-ceph",
    about="Volumes and file systems on a Ceph cluster that runs outside of Kubernetes.",
    phase=Phase.PLATFORM,
    apps=_apps,
    settings=RookCephSettings,
    check=check,
    ready=(
        deployment_condition("rook-ceph-operator", "rook-ceph"),
        crd_condition("cephclusters.ceph.rook.io"),
        Condition(
            kind="ceph.rook.io/v1 CephCluster",
            name="rook-ceph",
            expr="object.status.phase == 'Connected'",
            says="the Ceph cluster is connected",
            namespace="rook-ceph",
        ),
    ),
    trial=volume_smoke_test("ceph-rbd"),
    secrets=SECRETS | FILESYSTEM_SECRETS,
    alerts=(
        Alert(
            name="CephUnhealthy",
            expr="max(ceph_health_status) > 1",
            holds="15m",
            severity="critical",
            summary="Ceph reports an error.",
            metrics=("ceph_health_status",),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="CephCluster stays in Connecting",
            because="nodes do not reach the monitors, or the keys are of another cluster",
            fix="check the way to the monitors' ports 3300 and 6789, and export the keys again",
        ),
    ),
    definitions=("ceph.rook.io", "csi.ceph.io"),
)
