"""Storage classes of Proxmox CSI: settings, rules and chart values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from stockman.catalog.app import Object, Sheet
from stockman.catalog.component import ComponentContext
from stockman.catalog.objects import secret
from stockman.catalog.proxmox_config import check_proxmox
from stockman.model.component import Component as ComponentOptions
from stockman.model.formats import (
    NON_EMPTY,
    Between,
    DatastoreText,
    Example,
    HostNameText,
    Name,
    Text,
)
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.record import record

PASSPHRASE = "encryption-passphrase"
"""Name of the secret that decrypts encrypted volumes."""
_SECRET = "proxmox-csi-encryption"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


@record
class Replication(Traced):
    """Replication of volumes on ZFS storages to other hosts, by Proxmox VE."""

    zones: Annotated[tuple[HostNameText, ...], NON_EMPTY]
    """Hosts that keep a copy, one or two; each needs the storage under the same name."""
    schedule: Annotated[Text, Example("*/15")] = "*/15"
    """When volumes are replicated, as a calendar event of Proxmox VE."""


@record
class StorageClass(Traced):
    """A storage class: a Proxmox VE storage, and options for its volumes."""

    name: Name
    """Name of the class."""
    storage: DatastoreText
    """Proxmox VE storage."""
    default: bool = False
    """Whether claims without a class use this one."""
    shared: bool = False
    """Whether the storage is available on every host; volumes are then created immediately."""
    filesystem: Literal["ext4", "xfs"] = "ext4"
    """Filesystem of new volumes."""
    reclaim: Literal["delete", "retain"] = "delete"
    """What happens to a volume when its claim is deleted."""
    cache: Literal["directsync", "none", "writeback", "writethrough"] | None = None
    """Cache mode. None: the default of Proxmox VE."""
    ssd: bool = True
    """Whether the guest sees an SSD and discards unused blocks."""
    encrypted: bool = False
    """Whether volumes are encrypted with LUKS; needs `secrets.encryption-passphrase`."""
    zones: tuple[HostNameText, ...] = ()
    """Hosts on which volumes can be created. Empty: all hosts with the storage."""
    replication: Replication | None = None
    """Replication to other hosts, so that pods can start there. None: volumes stay on one host."""
    iops: Annotated[int, Between(1, 1_000_000)] | None = None
    """Limit of operations per second. None: no limit."""
    megabytes_per_second: Annotated[int, Between(1, 100_000)] | None = None
    """Limit of bandwidth. None: no limit."""


@record
class ProxmoxCsiSettings(Traced):
    """Storage classes and other features of volumes."""

    classes: tuple[StorageClass, ...] = ()
    """Storage classes. Empty: one named `proxmox` on the component's `storage`."""
    snapshots: bool = False
    """Whether volumes support snapshots. Proxmox VE only allows this for root@pam: a token of the
    component is not sufficient."""


def check(context: ComponentContext, problems: Problems) -> None:
    """Report classes that cannot work."""
    check_proxmox(context, problems)
    settings = context.settings_as(ProxmoxCsiSettings)
    if not settings.classes and context.options.storage is None:
        problems.error(
            "csi.storage",
            "proxmox-csi has no storage",
            why="it creates volumes on a storage of Proxmox VE, and none is set",
            fix="set components.proxmox-csi.storage, or its settings.classes",
            at=context.options.where("enabled"),
        )
    if sum(storage_class.default for storage_class in settings.classes) > 1:
        problems.error(
            "csi.default",
            "several storage classes are marked as default",
            why="Kubernetes would use the newest of them",
            fix="set default: true on only one of them",
            at=settings.where("classes"),
        )
    if (
        any(storage_class.encrypted for storage_class in settings.classes)
        and PASSPHRASE not in context.options.secrets
    ):
        problems.error(
            "csi.passphrase",
            "volumes are encrypted, but there is no passphrase",
            why="nodes need it to decrypt a volume",
            fix=f"set components.proxmox-csi.secrets.{PASSPHRASE}",
            at=settings.where("classes"),
        )
    for storage_class in settings.classes:
        _check_replication(storage_class, problems)
    if settings.snapshots:
        problems.warn(
            "csi.snapshots",
            "snapshots of volumes need the password of root",
            why="Proxmox VE allows only root@pam to copy a disk without a VM",
            fix="disable snapshots, or accept that this component has root access",
            at=settings.where("snapshots"),
        )


_MOST_COPIES = 2


def _check_replication(storage_class: StorageClass, problems: Problems) -> None:
    replication = storage_class.replication
    if replication is None:
        return
    if storage_class.shared or len(replication.zones) > _MOST_COPIES:
        problems.error(
            "csi.replication",
            f"volumes of the class {storage_class.name} cannot be replicated",
            why="a shared storage is available on every host already"
            if storage_class.shared
            else f"Proxmox CSI keeps copies on at most {_MOST_COPIES} hosts, and"
            f" {len(replication.zones)} are listed",
            fix="remove `replication`, or `shared: true`"
            if storage_class.shared
            else "list one or two hosts in `zones`",
            at=replication.where("zones"),
        )


def is_replicated(options: ComponentOptions) -> bool:
    """Return whether a configuration has a class with replication."""
    classes = options.settings.get("classes")
    return isinstance(classes, list | tuple) and any(
        isinstance(item, Mapping) and item.get("replication") is not None for item in classes
    )


def _zones_by_region(context: ComponentContext, zones: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the regions of hosts; a host without nodes may be in any region."""
    regions = [str(cluster.region) for cluster in context.desired.proxmox]
    known: dict[str, set[str]] = {}
    for cluster in context.desired.proxmox:
        for host in cluster.hosts:
            known.setdefault(host, set()).add(str(cluster.region))
    for node in context.desired.nodes:
        if node.vm is not None:
            known.setdefault(str(node.vm.host), set()).add(str(node.vm.region))
    result: dict[str, list[str]] = {}
    for region in regions:
        inside = [zone for zone in zones if region in known.get(zone, {region})]
        if inside:
            result[region] = inside
    return result


def _topologies(context: ComponentContext, zones: tuple[str, ...]) -> list[Object]:
    """Return one term for each region: the driver needs region and zone of a volume."""
    return [
        {
            "matchLabelExpressions": [
                {"key": "topology.kubernetes.io/region", "values": [region]},
                {"key": "topology.kubernetes.io/zone", "values": inside},
            ]
        }
        for region, inside in _zones_by_region(context, zones).items()
    ]


def storage_classes(context: ComponentContext) -> list[Object]:
    """Return every class, in the configured order."""
    classes = context.settings_as(ProxmoxCsiSettings).classes
    storage = context.options.storage
    if not classes and storage is not None:
        classes = (StorageClass(name="proxmox", storage=storage, default=True),)
    return [_class(storage_class, context) for storage_class in classes]


def encryption_secret(context: ComponentContext) -> tuple[Sheet, ...]:
    """Return the passphrase of encrypted volumes, if there are any."""
    passphrase = context.options.secrets.get(PASSPHRASE)
    if passphrase is None or not any(
        storage_class.encrypted for storage_class in context.settings_as(ProxmoxCsiSettings).classes
    ):
        return ()
    return (secret(_SECRET, {PASSPHRASE: passphrase}, file="encryption.sops.yaml"),)


def _class(storage_class: StorageClass, context: ComponentContext) -> Object:
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
    more = _parameters(storage_class, context.namespace)
    if more:
        values["extraParameters"] = more
    if storage_class.zones:
        zones = tuple(str(zone) for zone in storage_class.zones)
        values["allowedTopologies"] = _topologies(context, zones)
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
    if storage_class.replication is not None:
        parameters["replicate"] = "true"
        parameters["replicateSchedule"] = storage_class.replication.schedule
        parameters["replicateZones"] = ",".join(map(str, storage_class.replication.zones))
    if storage_class.megabytes_per_second is not None:
        parameters["diskMBps"] = str(storage_class.megabytes_per_second)
    return parameters
