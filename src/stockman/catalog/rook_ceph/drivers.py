"""The drivers with which nodes mount Ceph: Rook's operator no longer installs them itself."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import helm_release, helm_repository
from stockman.catalog.rook_ceph.settings import settings_of

_NAME = "ceph-csi-drivers"
_IMAGES = "rook-csi-operator-image-set-configmap"
"""ConfigMap of the operator's chart: drivers and operator are of one release."""


def driver_name(scene: ComponentContext, kind: str) -> str:
    """A driver's name, which storage classes use as their provisioner."""
    return f"{scene.namespace}.{kind}.csi.ceph.com"


def drivers(scene: ComponentContext) -> tuple[Sheet, ...]:
    """The files that install the drivers."""
    chart = scene.known.artifacts[_NAME]
    values: Object = {
        "operatorConfig": {
            "namespace": scene.namespace,
            "driverSpecDefaults": {
                "imageSet": {"name": _IMAGES},
                "nodePlugin": {"priorityClassName": "system-node-critical"},
                "controllerPlugin": {"priorityClassName": "system-cluster-critical"},
            },
        },
        "drivers": {
            "rbd": _driver(scene, "rbd", on=True),
            "cephfs": _driver(scene, "cephfs", on=bool(settings_of(scene).filesystem)),
            "nfs": _driver(scene, "nfs", on=False),
            "nvmeof": _driver(scene, "nvmeof", on=False),
        },
    }
    source: Object = {
        "chart": {
            "spec": {
                "chart": _NAME,
                "version": chart.tag,
                "sourceRef": {"kind": "HelmRepository", "name": _NAME},
            }
        }
    }
    return (
        Sheet(name="helmrelease.yaml", objects=(helm_release(_NAME, source, values),)),
        Sheet(name="helmrepository.yaml", objects=(helm_repository(_NAME, chart.repository),)),
    )


def _driver(scene: ComponentContext, kind: str, *, on: bool) -> Object:
    return {"enabled": on, "name": driver_name(scene, kind)}
