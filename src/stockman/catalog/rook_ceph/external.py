"""Objects for an external Ceph cluster."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import is_monitoring_on, secret
from stockman.catalog.rook_ceph.drivers import driver_name
from stockman.catalog.rook_ceph.settings import settings_of
from stockman.model.secret import Secret

_NAME = "rook-ceph"
_TYPE = "kubernetes.io/rook"
_MANAGER_PORT = 9283


def external_cluster(context: ComponentContext) -> Object:
    """Return the CephCluster, marked as external."""
    spec: Object = {"external": {"enable": True}, "crashCollector": {"disable": True}}
    managers = settings_of(context).managers
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
    settings, keys = settings_of(context), context.options.secrets
    endpoints: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rook-ceph-mon-endpoints"},
        "data": {
            "data": ",".join(settings.monitors),
            "mapping": "{}",
            "maxMonId": str(len(settings.monitors) - 1),
        },
    }
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
    if settings_of(context).filesystem:
        yield "rook-csi-cephfs-node", "csi-cephfs-node", "cephfs-node-key"
        yield "rook-csi-cephfs-provisioner", "csi-cephfs-provisioner", "cephfs-provisioner-key"


def _login(user: str, key: Secret) -> dict[str, Secret | str]:
    return {"userID": user, "userKey": key}


def storage_classes(context: ComponentContext) -> tuple[Object, ...]:
    """Return the storage class of volumes, and that of file systems if there is one."""
    settings, namespace = settings_of(context), context.namespace
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
