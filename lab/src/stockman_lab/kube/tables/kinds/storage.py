"""Tables of classes of storage, of its drivers and of what is attached."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Object,
    at,
    cells_of,
    created,
    listed,
    name_of,
    text,
)

_DEFAULTS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


@cells_of("storage.k8s.io/v1/storageclasses")
def storage_class_cells(content: Object, ages: Ages) -> Cells:
    """Name, provisioner, policy, binding, whether volumes may grow, age."""
    name = name_of(content)
    if any(at(content, "metadata", "annotations", default) == "true" for default in _DEFAULTS):
        name += " (default)"
    return [
        name,
        text(content, "provisioner"),
        text(content, "reclaimPolicy", default="Delete"),
        text(content, "volumeBindingMode", default="Immediate"),
        bool(at(content, "allowVolumeExpansion")),
        ages.since(created(content)),
    ]


@cells_of("storage.k8s.io/v1/volumeattributesclasses")
def volume_attributes_class_cells(content: Object, ages: Ages) -> Cells:
    """Name, driver, age."""
    return [name_of(content), text(content, "driverName"), ages.since(created(content))]


@cells_of("storage.k8s.io/v1/volumeattachments")
def attachment_cells(content: Object, ages: Ages) -> Cells:
    """Name, attacher, volume, node, whether it is attached, age."""
    return [
        name_of(content),
        text(content, "spec", "attacher"),
        text(content, "spec", "source", "persistentVolumeName"),
        text(content, "spec", "nodeName"),
        bool(at(content, "status", "attached")),
        ages.since(created(content)),
    ]


@cells_of("storage.k8s.io/v1/csinodes")
def csi_node_cells(content: Object, ages: Ages) -> Cells:
    """Name, count of drivers, age."""
    return [name_of(content), len(listed(content, "spec", "drivers")), ages.since(created(content))]


@cells_of("storage.k8s.io/v1/csidrivers")
def csi_driver_cells(content: Object, ages: Ages) -> Cells:
    """Name, what it can and wants, age."""
    spec = at(content, "spec")
    tokens = at(spec, "tokenRequests")
    audiences = None if tokens is None else ",".join(text(token, "audience") for token in tokens)
    attaches = at(spec, "attachRequired")
    return [
        name_of(content),
        True if attaches is None else attaches,
        bool(at(spec, "podInfoOnMount")),
        bool(at(spec, "storageCapacity")),
        UNSET if audiences is None else audiences,
        bool(at(spec, "requiresRepublish")),
        ",".join(listed(spec, "volumeLifecycleModes")) or NONE,
        ages.since(created(content)),
    ]
