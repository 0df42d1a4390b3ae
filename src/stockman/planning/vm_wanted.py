"""Every guest that should be, nodes and others alike, in the words of Proxmox VE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from stockman.config.derive import machine_uuid
from stockman.model.desired import Cluster, Desired, Node, Vm
from stockman.model.guest import CloudInit, Container, Guest, GuestVm, MountPoint
from stockman.model.hardware import DataDisk, Hardware, HighAvailability
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.proxmox_strings import tags_text
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm
from stockman.planning.image_wanted import ImageWish, guest_image_wish, node_image_wish
from stockman.planning.proxmox_needs import guests_of
from stockman.planning.vm_first_boot import SeedWish, first_boot_wish
from stockman.planning.vm_keys import (
    SYSTEM_DISK_OPTIONS,
    card_keys,
    card_macs,
    cloud_init_keys,
    container_keys,
    container_volumes,
    hardware_keys,
    volume_keys,
)
from stockman.planning.vm_mark import Mark, mark_text, own_tags
from stockman.steps.secret_ref import SecretRef
from stockman.steps.vm_identity import Identity
from stockman.steps.vm_import import ImportedDisk

CLOUD_INIT_DRIVE = "ide2"
_SYSTEM_DISK = "scsi0"


@record
class GuestWish:
    """One guest that should be."""

    who: Identity
    host: HostName
    owner: str
    source: Traced
    """What the files say of it."""
    entry: Traced | None = None
    """Its entry in the list of nodes. None: the source is the entry."""
    values: dict[str, str]
    """Keys that are kept as they are here."""
    made_with: dict[str, str]
    """Keys that it is made with, and that others may change afterwards."""
    copied: ImportedDisk | None = None
    """Its system disk, where that is a copy. None: it is among the keys, or nowhere."""
    secrets: dict[str, SecretRef] = field(default_factory=dict)
    system_disk: str
    disk_gb: int
    datastore: Datastore
    disks: tuple[DataDisk, ...] = ()
    mounts: tuple[MountPoint, ...] = ()
    """What a container has beside its root file system."""
    macs: tuple[str, ...] = ()
    ha: HighAvailability | None = None
    pool: str = ""
    image: ImageWish | None = None
    """What its disk is made from. None: nothing, or a volume that is there."""
    image_storage: Datastore | None = None
    """Where the image is fetched to."""
    volume: str = ""
    """Volume that its disk is made from and that has to be there. Empty: none."""
    seed: SeedWish | None = None
    is_node: bool = False
    raw_devices: tuple[str, ...] = ()
    """Devices by address, which a token cannot give away."""
    root_only: dict[str, str] = field(default_factory=dict)
    """Keys of a container that only root may set, and what they are for."""


def owner_of(desired: Desired) -> str:
    """Whose guests are: the name in their marks."""
    return desired.cluster.name if desired.cluster is not None else desired.name


def guest_wishes(
    desired: Desired, cluster: ProxmoxCluster, problems: Problems
) -> tuple[GuestWish, ...]:
    """All guests of one Proxmox cluster that are looked after in full."""
    return tuple(_wishes(desired, cluster, problems))


def _wishes(desired: Desired, cluster: ProxmoxCluster, problems: Problems) -> Iterator[GuestWish]:
    for node in desired.nodes:
        vm = node.vm
        if vm is not None and vm.region == cluster.region and desired.cluster is not None:
            yield _node(desired, desired.cluster, node, vm, _Place(cluster, problems))
    for guest in guests_of(desired, cluster):
        if guest.vm is not None:
            yield _guest_vm(owner_of(desired), cluster, guest, guest.vm)
        elif guest.container is not None:
            yield _container(owner_of(desired), cluster, guest, guest.container)


class _Place:
    def __init__(self, cluster: ProxmoxCluster, problems: Problems) -> None:
        self.cluster = cluster
        self.problems = problems


def _node(desired: Desired, cluster: Cluster, node: Node, vm: Vm, place: _Place) -> GuestWish:
    boot = first_boot_wish(desired, cluster, node, vm)
    image = node_image_wish(cluster, node, place.problems)
    storage = place.cluster.image_storage or vm.datastore
    # Who it is belongs to what it is made with: a guest with another UUID is another guest, and
    # the rest of the key is read at its first boot alone.
    made_with = {"ostype": "l26", **boot.identity, **volume_keys(vm, vm.datastore)}
    if boot.has_drive:
        made_with[CLOUD_INIT_DRIVE] = f"{vm.datastore}:cloudinit"
    name, owner = str(node.name), cluster.name
    return GuestWish(
        who=Identity(cluster=str(vm.region), vmid=vm.vmid, name=vm.name, uuid=vm.uuid),
        host=vm.host,
        owner=owner,
        source=vm if vm.origins else node,
        entry=node,
        values={
            **hardware_keys(vm),
            **card_keys(vm.nics, owner, name),
            **boot.keys,
            **_marked(owner, name, vm, vm.data_disks),
        },
        made_with=made_with,
        copied=_copied(vm, f"{storage}:import/{image.name}") if image is not None else None,
        system_disk=_SYSTEM_DISK,
        disk_gb=vm.disk_gb,
        datastore=vm.datastore,
        disks=vm.data_disks,
        macs=card_macs(vm.nics, owner, name),
        ha=vm.ha,
        pool=vm.pool or "",
        image=image,
        image_storage=storage,
        seed=boot.seed,
        is_node=True,
        raw_devices=tuple(_raw(vm)),
    )


def _guest_vm(owner: str, cluster: ProxmoxCluster, guest: Guest, vm: GuestVm) -> GuestWish:
    image = guest_image_wish(vm.image) if vm.image is not None else None
    storage = cluster.image_storage or vm.datastore
    volume = vm.image.volume if vm.image is not None else None
    source = f"{storage}:import/{image.name}" if image is not None else volume
    uuid = vm.uuid or machine_uuid(owner, guest.name)
    made_with = {
        "ostype": "l26",
        "smbios1": f"uuid={uuid}",
        **volume_keys(vm, vm.datastore),
    }
    if not source:
        made_with[_SYSTEM_DISK] = f"{vm.datastore}:{vm.disk_gb},{SYSTEM_DISK_OPTIONS}"
    values = hardware_keys(vm)
    secrets: dict[str, SecretRef] = {}
    if vm.cloud_init is not None:
        values |= cloud_init_keys(vm.cloud_init)
        made_with[CLOUD_INIT_DRIVE] = f"{vm.datastore}:cloudinit"
        secrets = _password(guest, vm.cloud_init)
    return GuestWish(
        who=Identity(
            cluster=str(cluster.region), vmid=Vmid(guest.vmid), name=guest.name, uuid=uuid
        ),
        host=HostName(guest.host),
        owner=owner,
        source=guest,
        values={
            **values,
            **card_keys(vm.nics, owner, guest.name),
            **_marked(owner, guest.name, vm, vm.data_disks),
        },
        made_with=made_with,
        copied=_copied(vm, source) if source else None,
        secrets=secrets,
        system_disk=_SYSTEM_DISK,
        disk_gb=vm.disk_gb,
        datastore=vm.datastore,
        disks=vm.data_disks,
        macs=card_macs(vm.nics, owner, guest.name),
        ha=vm.ha,
        pool=vm.pool or "",
        image=image,
        image_storage=storage,
        volume=volume or "",
        raw_devices=tuple(_raw(vm)),
    )


def _container(
    owner: str, cluster: ProxmoxCluster, guest: Guest, container: Container
) -> GuestWish:
    mark = Mark(owner=owner, name=guest.name)
    return GuestWish(
        who=Identity(
            cluster=str(cluster.region), vmid=Vmid(guest.vmid), name=guest.name, kind="lxc"
        ),
        host=HostName(guest.host),
        owner=owner,
        source=guest,
        values={
            **container_keys(container, owner, guest.name),
            "description": mark_text(mark, container.description),
            "tags": tags_text(own_tags(owner, container.tags)),
        },
        made_with=container_volumes(container),
        system_disk="rootfs",
        disk_gb=container.disk_gb,
        datastore=container.datastore,
        macs=card_macs(container.nics, owner, guest.name),
        pool=container.pool or "",
        volume=container.template,
        mounts=container.mounts,
        root_only=dict(_root_only(container)),
    )


def _copied(vm: Vm | GuestVm, source: str) -> ImportedDisk:
    return ImportedDisk(
        slot=_SYSTEM_DISK,
        storage=vm.datastore,
        source=source,
        options=SYSTEM_DISK_OPTIONS,
        gib=vm.disk_gb,
    )


def _marked(
    owner: str, name: str, hardware: Hardware, disks: tuple[DataDisk, ...]
) -> Mapping[str, str]:
    scratch = tuple(disk.name for disk in disks if not disk.keep)
    mark = Mark(owner=owner, name=name, scratch=scratch)
    return {
        "name": name,
        "description": mark_text(mark, hardware.description),
        "tags": tags_text(own_tags(owner, hardware.tags)),
    }


def _password(guest: Guest, cloud: CloudInit) -> dict[str, SecretRef]:
    if cloud.password is None:
        return {}
    place = secret_place(cloud.password, f"config:guests.{guest.name}.vm.cloud_init.password")
    return {"cipassword": place}


def secret_place(secret: Secret | None, otherwise: str) -> SecretRef:
    """Where a secret is read: the place that the files name, or else another."""
    named = (SecretForm.ENVIRONMENT, SecretForm.FILE, SecretForm.SOPS)
    if secret is not None and secret.form in named:
        return SecretRef(place=secret.reference)
    return SecretRef(place=otherwise)


def _root_only(container: Container) -> Iterator[tuple[str, str]]:
    for number, device in enumerate(container.devices):
        yield f"dev{number}", f"the device {device}"
    for number, mount in enumerate(container.mounts):
        if mount.source.startswith("/"):
            yield f"mp{number}", f"the directory {mount.source} of its host"
    if container.nesting and not container.unprivileged:
        yield "features", "nesting although it is privileged"


def _raw(hardware: Hardware) -> Iterator[str]:
    yield from (one.address for one in hardware.pci if one.address is not None)
    yield from (one.id for one in hardware.usb if one.id is not None)
