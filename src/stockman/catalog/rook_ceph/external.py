"""Objects for an external Ceph cluster, and the CSI drivers that mount it on nodes.

Rook's operator no longer installs these drivers.
"""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import artifact_sheets, config_map, is_monitoring_on, secret
from stockman.catalog.rook_ceph.settings import RookCephSettings
from stockman.model.secret import Secret

_NAME = "rook-ceph"
_TYPE = "kubernetes.io/rook"
_MANAGER_PORT = 9283
_DRIVERS = "ceph-csi-drivers"
_IMAGES = "rook-csi-operator-image-set-configmap"
"""ConfigMap from the operator's chart: drivers and operator have the same release."""


def external_cluster(context: ComponentContext) -> Object:
    """Return the CephCluster, marked as external."""
    spec: Object = {"external": {"enable": True}, "crashCollector": {"disable": True}}
    managers = context.settings_as(RookCephSettings).managers
    if managers and is_monitoring_on(context):
        spec["monitoring"] = {
            "enabled": True,
            "externalMgrEndpoints": [{"ip": str(address)} for address in managers],
            "externalMgrPrometheusPort": _MANAGER_PORT,
        }
    return {
        "apiVersion": "ceph.rook.io/v1",
        "kind": "CephCluster",
        "metadata": {"name": _NAME, "namespace": context.namespace},
        "spec": spec,
    }


def connection(context: ComponentContext) -> Iterator[Sheet]:
    """Return the monitor addresses and the keys for Ceph."""
    settings, keys = context.settings_as(RookCephSettings), context.options.secrets
    texts = {
        "data": ",".join(settings.monitors),
        "mapping": "{}",
        "maxMonId": str(len(settings.monitors) - 1),
    }
    endpoints = config_map("rook-ceph-mon-endpoints", texts)
    yield Sheet(name="monitors.yaml", objects=(endpoints,))
    if "admin-key" not in keys:
        return
    yield secret(
        "rook-ceph-mon",
        {
            "cluster-name": context.namespace,
            "fsid": settings.fsid,
            "admin-secret": "admin-secret",
            "mon-secret": "mon-secret",
            "ceph-username": settings.user,
            "ceph-secret": keys["admin-key"],
        },
        of_type=_TYPE,
    )
    for name, user, key in _users(context):
        text = keys.get(key)
        if text is not None:
            yield secret(name, _login(user, text), file=f"{name}.sops.yaml", of_type=_TYPE)


def _users(context: ComponentContext) -> Iterator[tuple[str, str, str]]:
    yield "rook-csi-rbd-node", "csi-rbd-node", "rbd-node-key"
    yield "rook-csi-rbd-provisioner", "csi-rbd-provisioner", "rbd-provisioner-key"
    if context.settings_as(RookCephSettings).filesystem:
        yield "rook-csi-cephfs-node", "csi-cephfs-node", "cephfs-node-key"
        yield "rook-csi-cephfs-provisioner", "csi-cephfs-provisioner", "cephfs-provisioner-key"


def _login(user: str, key: Secret) -> dict[str, Secret | str]:
    return {"userID": user, "userKey": key}


def storage_classes(context: ComponentContext) -> tuple[Object, ...]:
    """Return the storage class of volumes, and that of file systems if there is one."""
    settings, namespace = context.settings_as(RookCephSettings), context.namespace
    classes = [
        _class(
            "ceph-rbd",
            driver_name(context, "rbd"),
            "rbd",
            namespace,
            {
                "pool": settings.pool,
                "imageFeatures": "layering",
                "imageFormat": "2",
                "csi.storage.k8s.io/fstype": "ext4",
            },
        )
    ]
    if settings.filesystem:
        pool = settings.filesystem_pool or f"{settings.filesystem}-data0"
        classes.append(
            _class(
                "cephfs",
                driver_name(context, "cephfs"),
                "cephfs",
                namespace,
                {"fsName": settings.filesystem, "pool": pool},
            )
        )
    return tuple(classes)


def _class(name: str, driver: str, kind: str, namespace: str, more: Object) -> Object:
    parameters: Object = {"clusterID": namespace, **more}
    for step, user in (
        ("provisioner", "provisioner"),
        ("controller-expand", "provisioner"),
        ("controller-publish", "provisioner"),
        ("node-stage", "node"),
    ):
        parameters[f"csi.storage.k8s.io/{step}-secret-name"] = f"rook-csi-{kind}-{user}"
        parameters[f"csi.storage.k8s.io/{step}-secret-namespace"] = namespace
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": driver,
        "parameters": parameters,
        "allowVolumeExpansion": True,
        "reclaimPolicy": "Delete",
    }


def driver_name(context: ComponentContext, kind: str) -> str:
    """Return the name of a driver, which storage classes use as provisioner."""
    return f"{context.namespace}.{kind}.csi.ceph.com"


def drivers(context: ComponentContext) -> tuple[Sheet, ...]:
    """Return the files that install the drivers."""
    chart = context.facts.artifacts[_DRIVERS]
    values: Object = {
        "operatorConfig": {
            "namespace": context.namespace,
            "driverSpecDefaults": {
                "imageSet": {"name": _IMAGES},
                "nodePlugin": {"priorityClassName": "system-node-critical"},
                "controllerPlugin": {"priorityClassName": "system-cluster-critical"},
            },
        },
        "drivers": {
            "rbd": _driver(context, "rbd", on=True),
            "cephfs": _driver(
                context, "cephfs", on=bool(context.settings_as(RookCephSettings).filesystem)
            ),
            "nfs": _driver(context, "nfs", on=False),
            "nvmeof": _driver(context, "nvmeof", on=False),
        },
    }
    return artifact_sheets(_DRIVERS, _DRIVERS, chart, values)


def _driver(context: ComponentContext, kind: str, *, on: bool) -> Object:
    return {"enabled": on, "name": driver_name(context, kind)}
