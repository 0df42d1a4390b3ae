"""Storage classes as chart values."""

from __future__ import annotations

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import secret
from stockman.catalog.proxmox_csi.settings import PASSPHRASE, StorageClass, settings_of

_SECRET = "proxmox-csi-encryption"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def storage_classes(context: ComponentContext) -> list[Object]:
    """Return every class, in the configured order."""
    classes = settings_of(context).classes
    storage = context.options.storage
    if not classes and storage is not None:
        classes = (StorageClass(name="proxmox", storage=storage, default=True),)
    return [_class(storage_class, context.namespace) for storage_class in classes]


def encryption_secret(context: ComponentContext) -> tuple[Sheet, ...]:
    """Return the passphrase of encrypted volumes, if there are any."""
    passphrase = context.options.secrets.get(PASSPHRASE)
    if passphrase is None or not any(
        storage_class.encrypted for storage_class in settings_of(context).classes
    ):
        return ()
    return (secret(_SECRET, {PASSPHRASE: passphrase}, file="encryption.sops.yaml"),)


def _class(storage_class: StorageClass, namespace: str) -> Object:
    values: Object = {
        "name": storage_class.name,
        "storage": storage_class.storage,
        "fstype": storage_class.filesystem,
        "reclaimPolicy": storage_class.reclaim.capitalize(),
        "volumeBindingMode": "Immediate" if storage_class.shared else "WaitForFirstConsumer",
        "ssd": storage_class.ssd,
    }
    if storage_class.cache is not None:
        values["cache"] = storage_class.cache
    more = _parameters(storage_class, namespace)
    if more:
        values["extraParameters"] = more
    if storage_class.zones:
        expression = {
            "key": "topology.kubernetes.io/zone",
            "values": [str(zone) for zone in storage_class.zones],
        }
        values["allowedTopologies"] = [{"matchLabelExpressions": [expression]}]
    if storage_class.default:
        values["annotations"] = {_DEFAULT: "true"}
    return values


def _parameters(storage_class: StorageClass, namespace: str) -> Object:
    parameters: Object = {}
    if storage_class.encrypted:
        parameters["csi.storage.k8s.io/node-stage-secret-name"] = _SECRET
        parameters["csi.storage.k8s.io/node-stage-secret-namespace"] = namespace
        parameters["csi.storage.k8s.io/node-expand-secret-name"] = _SECRET
        parameters["csi.storage.k8s.io/node-expand-secret-namespace"] = namespace
    if storage_class.iops is not None:
        parameters["diskIOPS"] = str(storage_class.iops)
    if storage_class.megabytes_per_second is not None:
        parameters["diskMBps"] = str(storage_class.megabytes_per_second)
    return parameters
