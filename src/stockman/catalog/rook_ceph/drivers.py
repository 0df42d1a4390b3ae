"""CSI drivers that mount Ceph on nodes; Rook's operator no longer installs them."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import helm_release, helm_repository
from stockman.catalog.rook_ceph.settings import settings_of

_NAME = "ceph-csi-drivers"
_IMAGES = "rook-csi-operator-image-set-configmap"
"""ConfigMap from the operator's chart: drivers and operator have the same release."""


def driver_name(context: ComponentContext, kind: str) -> str:
    """Return the name of a driver, which storage classes use as provisioner."""
    return f"{context.namespace}.{kind}.csi.ceph.com"


def drivers(context: ComponentContext) -> tuple[Sheet, ...]:
    """Return the files that install the drivers."""
    chart = context.facts.artifacts[_NAME]
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
            "cephfs": _driver(context, "cephfs", on=bool(settings_of(context).filesystem)),
            "nfs": _driver(context, "nfs", on=False),
            "nvmeof": _driver(context, "nvmeof", on=False),
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


def _driver(context: ComponentContext, kind: str, *, on: bool) -> Object:
    return {"enabled": on, "name": driver_name(context, kind)}
