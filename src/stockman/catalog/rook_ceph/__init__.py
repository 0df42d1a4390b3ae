"""Rook-Ceph: volumes on an external Ceph cluster, such as that of Proxmox VE."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import (
    Condition,
    crd_condition,
    deployment_condition,
    volume_smoke_test,
)
from stockman.catalog.objects import chart_sheets, is_monitoring_on
from stockman.catalog.rook_ceph.external import (
    connection,
    drivers,
    external_cluster,
    storage_classes,
)
from stockman.catalog.rook_ceph.settings import (
    FILESYSTEM_SECRETS,
    SECRETS,
    RookCephSettings,
    check,
    missing_secrets,
)


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "csi": {"installCsiOperator": True},
        "monitoring": {"enabled": is_monitoring_on(context)},
    }
    namespace = context.namespace
    yield App(name="rook-ceph", namespace=namespace, sheets=chart_sheets(context, values))
    yield App(
        name="rook-ceph-drivers", namespace=namespace, folder="drivers", sheets=drivers(context)
    )
    missing = missing_secrets(context)
    yield App(
        name="rook-ceph-config",
        namespace=namespace,
        folder="config",
        sheets=(
            Sheet(name="cluster.yaml", objects=(external_cluster(context),)),
            Sheet(name="storageclasses.yaml", objects=storage_classes(context)),
            *connection(context),
        ),
        pending=f"secrets of the Ceph cluster: {', '.join(missing)}" if missing else "",
    )


COMPONENT = Component(
    name="rook-ceph",
    about="Volumes and file systems on a Ceph cluster outside of Kubernetes.",
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
    smoke_test=volume_smoke_test("ceph-rbd"),
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
    known_problems=(
        KnownProblem(
            symptom="CephCluster stays in Connecting",
            cause="nodes cannot reach the monitors, or the keys belong to another cluster",
            fix=(
                "check that the monitor ports 3300 and 6789 are reachable, and export the "
                "keys again"
            ),
        ),
    ),
    definitions=("ceph.rook.io", "csi.ceph.io"),
)
