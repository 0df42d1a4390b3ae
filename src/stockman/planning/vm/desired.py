"""The desired guests: values for Proxmox VE and first boot data, built from the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from stockman.model.desired import Cluster, Desired, Node, Vm
from stockman.model.guest import CloudInit, Container, Guest, GuestVm, MountPoint
from stockman.model.hardware import DataDisk, Hardware, HighAvailability, Nic
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.origin import Traced
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.proxmox_values import format_tags
from stockman.model.record import record, require
from stockman.model.secret import Secret, SecretForm
from stockman.planning.vm.images import DesiredImage, find_guest_image, find_node_image
from stockman.planning.vm.requirements import guests_in_cluster
from stockman.proxmox.guest_values import (
    CLOUD_INIT_DRIVE,
    SYSTEM_DISK,
    SYSTEM_DISK_OPTIONS,
    cloud_init_drive,
    cloud_init_keys,
    container_keys,
    container_volumes,
    empty_system_disk,
    hardware_keys,
    image_volume,
    nic_keys,
    smbios_value,
    volume_keys,
)
from stockman.steps.secret_ref import SecretRef
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import GuestOwner, build_mark, own_tags, render_mark
from stockman.steps.vm.system_disk import ImportedDisk
from stockman.talos.nocloud.network import build_node_network
from stockman.talos.nocloud.seed import (
    META_DATA,
    NETWORK_CONFIG,
    FirstBootData,
    NativeKeys,
    choose_delivery,
    choose_version,
    instance_id,
    meta_data,
    network_config,
    smbios1,
    smbios_serial,
)

_NOCLOUD = "nocloud"
_IDENTITY = "smbios1"


@record
class FirstBoot:
    """The first boot data of a node."""

    identity: dict[str, str]
    """The value with the identity of the machine."""
    keys: dict[str, str] = field(default_factory=dict)
    """Network configuration; only VMs with a cloud-init drive of Proxmox VE read it there."""
    files: dict[str, str] = field(default_factory=dict)
    """Files of its NoCloud image besides the machine configuration. Empty: it reads no image."""


def needs_labels(desired: Desired) -> bool:
    """Whether nodes need labels in their meta-data, which Talos' cloud controller reads."""
    components = desired.components
    enabled = {name for name, component in components.items() if component.enabled is True}
    return "talos-ccm" in enabled and "proxmox-ccm" not in enabled


def first_boot(desired: Desired, cluster: Cluster, node: Node, vm: Vm) -> FirstBoot:
    """Return how a node gets its name and network configuration."""
    if cluster.talos.platform != _NOCLOUD:
        return FirstBoot(identity={_IDENTITY: smbios_value(vm.uuid)})
    text = smbios_serial(hostname=str(node.name), instance_id=instance_id(node))
    identity = {_IDENTITY: smbios1(vm.uuid, text)}
    network = build_node_network(cluster, node)
    delivery = choose_delivery(node, network, FirstBootData(labels=needs_labels(desired)))
    native = delivery.keys if isinstance(delivery, NativeKeys) else {}
    return FirstBoot(
        identity=identity,
        keys={key: value for key, value in native.items() if key != _IDENTITY},
        files={
            META_DATA: meta_data(node),
            NETWORK_CONFIG: network_config(network, choose_version(network)),
        },
    )


@record
class DesiredGuest:
    """A guest as the configuration describes it."""

    identity: GuestIdentity
    host: HostName
    owner: GuestOwner
    source: Traced
    """The entry of the configuration."""
    entry: Traced | None = None
    """The entry in the list of nodes. None: `source` is that entry."""
    values: dict[str, str]
    """Values that are kept as configured."""
    creation_values: dict[str, str]
    """Values that are only set on creation."""
    imported_disk: ImportedDisk | None = None
    """The system disk if it is imported. None: it is among the values, or there is none."""
    secrets: dict[str, SecretRef] = field(default_factory=dict)
    system_disk: str
    disk_gb: int
    datastore: Datastore
    disks: tuple[DataDisk, ...] = ()
    mounts: tuple[MountPoint, ...] = ()
    """Mount points of a container besides its root file system."""
    macs: tuple[str, ...] = ()
    ha: HighAvailability | None = None
    pool: str = ""
    image: DesiredImage | None = None
    """Image of the system disk. None: no image, or an existing volume."""
    image_storage: Datastore | None = None
    """The storage that the image is downloaded to."""
    volume: str = ""
    """Existing volume that the system disk is created from. Empty: none."""
    seed: dict[str, str] = field(default_factory=dict)
    """Files of its NoCloud image besides the machine configuration. Empty: it reads no image."""
    is_node: bool = False
    raw_devices: tuple[str, ...] = ()
    """Devices by address; a token may not assign them."""
    root_only: dict[str, str] = field(default_factory=dict)
    """Values of a container that only root may set, with a description of each."""


def owner_of(desired: Desired) -> str:
    """Return the owner name in the marks of guests."""
    return desired.cluster.name if desired.cluster is not None else desired.name


def guest_owner(desired: Desired) -> GuestOwner:
    """Return the owner in the marks of guests."""
    return GuestOwner(
        name=owner_of(desired),
        fingerprint=desired.fingerprint,
        earlier=desired.earlier_fingerprint,
    )


def build_desired_guests(
    desired: Desired, cluster: ProxmoxCluster, problems: Problems
) -> tuple[DesiredGuest, ...]:
    """Return all guests of one Proxmox cluster that are managed in full."""
    return tuple(_build_guests(desired, cluster, problems))


def _build_guests(
    desired: Desired, cluster: ProxmoxCluster, problems: Problems
) -> Iterator[DesiredGuest]:
    for node in desired.nodes:
        if node.vm is not None and node.vm.region == cluster.region:
            yield _node_guest(desired, node, cluster, problems)
    for guest in guests_in_cluster(desired, cluster):
        if guest.vm is not None:
            yield _vm_guest(guest_owner(desired), cluster, guest, guest.vm)
        elif guest.container is not None:
            yield _container_guest(guest_owner(desired), cluster, guest, guest.container)


def _node_guest(
    desired: Desired, node: Node, proxmox: ProxmoxCluster, problems: Problems
) -> DesiredGuest:
    cluster, vm = require(desired.cluster), require(node.vm)
    boot = first_boot(desired, cluster, node, vm)
    image = find_node_image(cluster, node, problems)
    storage = proxmox.image_storage_for(vm.datastore)
    # The identity is only set on creation: a guest with another UUID is another guest, and the
    # serial number is only read at the first boot.
    creation_values = {"ostype": "l26", **boot.identity, **volume_keys(vm)}
    identity = GuestIdentity(cluster=str(vm.region), vmid=vm.vmid, name=vm.name, uuid=vm.uuid)
    owner = guest_owner(desired)
    return DesiredGuest(
        identity=identity,
        host=vm.host,
        owner=owner,
        source=vm if vm.origins else node,
        entry=node,
        values={
            **hardware_keys(vm),
            **nic_keys(vm.nics),
            **boot.keys,
            **_with_owner_mark(owner, identity, vm, vm.data_disks),
        },
        creation_values=creation_values,
        imported_disk=_disk_from_image(vm, image_volume(storage, image.name))
        if image is not None
        else None,
        system_disk=SYSTEM_DISK,
        disk_gb=vm.disk_gb,
        datastore=vm.datastore,
        disks=vm.data_disks,
        macs=_macs(vm.nics),
        ha=vm.ha,
        pool=vm.pool or "",
        image=image,
        image_storage=storage,
        seed=boot.files,
        is_node=True,
        raw_devices=tuple(_raw_keys(vm)),
    )


def _vm_guest(
    owner: GuestOwner, cluster: ProxmoxCluster, guest: Guest, vm: GuestVm
) -> DesiredGuest:
    image = find_guest_image(vm.image) if vm.image is not None else None
    storage = cluster.image_storage_for(vm.datastore)
    volume = vm.image.volume if vm.image is not None else None
    source = image_volume(storage, image.name) if image is not None else volume
    uuid = require(vm.uuid)
    identity = GuestIdentity(
        cluster=str(cluster.region), vmid=Vmid(guest.vmid), name=guest.name, uuid=uuid
    )
    creation_values = {
        "ostype": "l26",
        "smbios1": smbios_value(uuid),
        **volume_keys(vm),
    }
    if not source:
        creation_values[SYSTEM_DISK] = empty_system_disk(vm.datastore, vm.disk_gb)
    values = hardware_keys(vm)
    secrets: dict[str, SecretRef] = {}
    if vm.cloud_init is not None:
        values |= cloud_init_keys(vm.cloud_init)
        creation_values[CLOUD_INIT_DRIVE] = cloud_init_drive(vm.datastore)
        secrets = _password(guest, vm.cloud_init)
    return DesiredGuest(
        identity=identity,
        host=HostName(guest.host),
        owner=owner,
        source=guest,
        values={
            **values,
            **nic_keys(vm.nics),
            **_with_owner_mark(owner, identity, vm, vm.data_disks),
        },
        creation_values=creation_values,
        imported_disk=_disk_from_image(vm, source) if source else None,
        secrets=secrets,
        system_disk=SYSTEM_DISK,
        disk_gb=vm.disk_gb,
        datastore=vm.datastore,
        disks=vm.data_disks,
        macs=_macs(vm.nics),
        ha=vm.ha,
        pool=vm.pool or "",
        image=image,
        image_storage=storage,
        volume=volume or "",
        raw_devices=tuple(_raw_keys(vm)),
    )


def _container_guest(
    owner: GuestOwner, cluster: ProxmoxCluster, guest: Guest, container: Container
) -> DesiredGuest:
    identity = GuestIdentity(
        cluster=str(cluster.region), vmid=Vmid(guest.vmid), name=guest.name, kind="lxc"
    )
    return DesiredGuest(
        identity=identity,
        host=HostName(guest.host),
        owner=owner,
        source=guest,
        values={
            **container_keys(container, guest.name),
            "description": render_mark(build_mark(owner, identity), container.description),
            "tags": format_tags(own_tags(owner.name, container.tags)),
        },
        creation_values=container_volumes(container),
        system_disk="rootfs",
        disk_gb=container.disk_gb,
        datastore=container.datastore,
        macs=_macs(container.nics),
        pool=container.pool or "",
        volume=container.template,
        mounts=container.mounts,
        root_only=dict(_root_only(container)),
    )


def _macs(nics: Iterable[Nic]) -> tuple[str, ...]:
    return tuple(require(nic.mac_addr).lower() for nic in nics)


def _disk_from_image(vm: Vm | GuestVm, source: str) -> ImportedDisk:
    return ImportedDisk(
        slot=SYSTEM_DISK,
        storage=vm.datastore,
        source=source,
        options=SYSTEM_DISK_OPTIONS,
        gib=vm.disk_gb,
    )


def _with_owner_mark(
    owner: GuestOwner, identity: GuestIdentity, hardware: Hardware, disks: tuple[DataDisk, ...]
) -> Mapping[str, str]:
    scratch = tuple(disk.name for disk in disks if not disk.keep)
    mark = build_mark(owner, identity, scratch)
    return {
        "name": identity.name,
        "description": render_mark(mark, hardware.description),
        "tags": format_tags(own_tags(owner.name, hardware.tags)),
    }


def _password(guest: Guest, cloud: CloudInit) -> dict[str, SecretRef]:
    if cloud.password is None:
        return {}
    secret = secret_ref_for(cloud.password, f"config:guests.{guest.name}.vm.cloud_init.password")
    return {"cipassword": secret}


def secret_ref_for(secret: Secret | None, default: str) -> SecretRef:
    """Return the reference of a secret: the source that the files name, else the given default."""
    named = (SecretForm.ENVIRONMENT, SecretForm.FILE, SecretForm.SOPS)
    if secret is not None and secret.form in named:
        return SecretRef(place=secret.reference)
    return SecretRef(place=default)


def _root_only(container: Container) -> Iterator[tuple[str, str]]:
    for number, device in enumerate(container.devices):
        yield f"dev{number}", f"device {device}"
    for number, mount in enumerate(container.mounts):
        if mount.source.startswith("/"):
            yield f"mp{number}", f"host directory {mount.source}"
    if container.nesting and not container.unprivileged:
        yield "features", "nesting in a privileged container"


def _raw_keys(hardware: Hardware) -> Iterator[str]:
    yield from (device.address for device in hardware.pci if device.address is not None)
    yield from (device.id for device in hardware.usb if device.id is not None)
