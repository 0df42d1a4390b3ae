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
    return [_class(one, context.namespace) for one in classes]


def encryption_secret(context: ComponentContext) -> tuple[Sheet, ...]:
    """Return the passphrase of encrypted volumes, if there are any."""
    passphrase = context.options.secrets.get(PASSPHRASE)
    if passphrase is None or not any(one.encrypted for one in settings_of(context).classes):
        return ()
    return (secret(_SECRET, {PASSPHRASE: passphrase}, file="encryption.sops.yaml"),)


def _class(one: StorageClass, namespace: str) -> Object:
    found: Object = {
        "name": one.name,
        "storage": one.storage,
        "fstype": one.filesystem,
        "reclaimPolicy": one.reclaim.capitalize(),
        "volumeBindingMode": "Immediate" if one.shared else "WaitForFirstConsumer",
        "ssd": one.ssd,
    }
    if one.cache is not None:
        found["cache"] = one.cache
    more = _parameters(one, namespace)
    if more:
        found["extraParameters"] = more
    if one.zones:
        here = {"key": "topology.kubernetes.io/zone", "values": [str(zone) for zone in one.zones]}
        found["allowedTopologies"] = [{"matchLabelExpressions": [here]}]
    if one.default:
        found["annotations"] = {_DEFAULT: "true"}
    return found


def _parameters(one: StorageClass, namespace: str) -> Object:
    found: Object = {}
    if one.encrypted:
        found["csi.storage.k8s.io/node-stage-secret-name"] = _SECRET
        found["csi.storage.k8s.io/node-stage-secret-namespace"] = namespace
        found["csi.storage.k8s.io/node-expand-secret-name"] = _SECRET
        found["csi.storage.k8s.io/node-expand-secret-namespace"] = namespace
    if one.iops is not None:
        found["diskIOPS"] = str(one.iops)
    if one.megabytes_per_second is not None:
        found["diskMBps"] = str(one.megabytes_per_second)
    return found
