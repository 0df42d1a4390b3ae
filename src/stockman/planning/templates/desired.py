"""The desired templates: the image and hardware of a node, once per host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.config.resolve import machine_uuid, network_cards
from stockman.model.desired import Cluster, Desired, Node, Vm
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster, VmTemplate
from stockman.model.proxmox_values import format_tags
from stockman.model.record import record, require
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest, guest_owner
from stockman.planning.vm.images import DesiredImage, find_node_image
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.guest_values import (
    SYSTEM_DISK,
    SYSTEM_DISK_OPTIONS,
    hardware_keys,
    image_volume,
    nic_keys,
    smbios_value,
    volume_keys,
)
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import (
    TEMPLATE_TAG,
    GuestOwner,
    Ownership,
    build_mark,
    own_tags,
    ownership_of,
    parse_mark,
    render_mark,
)
from stockman.steps.vm.system_disk import ImportedDisk
from stockman.talos.schematic import node_image, template_name

_NOTES = "description"
_KEYS_WITHOUT_TEMPLATES = ("hostpci", "startup", "usb")
"""Key families that belong to a single machine."""


@record
class DesiredTemplate:
    """A template on one host; its VMID depends on what exists."""

    name: str
    """Name of its VM."""
    host: HostName
    datastore: Datastore
    image: DesiredImage
    image_storage: Datastore
    first_vmid: int
    vm: Vm
    """The VM that it is modelled on."""
    source: VmTemplate


def build_desired_templates(
    desired: Desired, cluster: ProxmoxCluster, problems: Problems
) -> tuple[DesiredTemplate, ...]:
    """Return all templates of one Proxmox cluster."""
    if desired.cluster is None:
        return ()
    nodes = {node.name: node for node in desired.nodes}
    return tuple(
        template_on_host
        for template in cluster.templates
        if (node := nodes.get(template.like)) is not None and node.vm is not None
        for template_on_host in _on_hosts(
            desired.cluster, cluster, template, (node, node.vm), problems
        )
    )


def _on_hosts(
    kubernetes: Cluster,
    cluster: ProxmoxCluster,
    template: VmTemplate,
    like: tuple[Node, Vm],
    problems: Problems,
) -> Iterator[DesiredTemplate]:
    node, vm = like
    factory_image = node_image(node, kubernetes.talos, Problems())
    image = find_node_image(kubernetes, node, problems)
    if factory_image is None or image is None:
        return
    datastore = require(template.datastore)
    for host in template.hosts:
        yield DesiredTemplate(
            name=template_name(template.name, factory_image),
            host=HostName(host),
            datastore=datastore,
            image=image,
            image_storage=cluster.image_storage_for(datastore),
            first_vmid=template.first_vmid,
            vm=vm,
            source=template,
        )


def find_own_templates(
    observed: ObservedProxmox, owner: GuestOwner
) -> Iterator[tuple[GuestSummary, VmConfig, Ownership]]:
    """Return templates with the mark of an owner, finished or not.

    Only those whose ownership is `OURS` may be deleted.
    """
    for guest in observed.guests():
        fact = observed.configs.get(guest.vmid)
        if TEMPLATE_TAG not in guest.tags or not isinstance(fact, Fact):
            continue
        config = fact.value
        identity = GuestIdentity(
            cluster=observed.name, vmid=guest.vmid, name=config.name, uuid=config.uuid
        )
        ownership, mark = ownership_of(owner, identity, config), parse_mark(config.get(_NOTES))
        is_named = mark is not None and mark.name == config.name
        if ownership in (Ownership.OURS, Ownership.OLD_MARK) and is_named:
            yield guest, config, ownership


def assign_template_vmids(
    desired: Desired,
    observed: ObservedProxmox,
    templates: tuple[DesiredTemplate, ...],
    taken: frozenset[Vmid],
) -> tuple[DesiredGuest, ...]:
    """Return the templates with VMIDs: that of the existing template, or the lowest free one."""
    owner = guest_owner(desired)
    existing = {
        (str(guest.host), config.name): guest.vmid
        for guest, config, _ in find_own_templates(observed, owner)
    }
    used = {guest.vmid for guest in observed.guests()} | taken
    used |= {Vmid(guest.vmid) for guest in desired.guests}
    placed: list[DesiredGuest] = []
    for template in templates:
        vmid = existing.get((str(template.host), template.name))
        if vmid is None:
            free = template.first_vmid
            while Vmid(free) in used:
                free += 1
            vmid = Vmid(free)
        used.add(vmid)
        placed.append(_guest(observed.name, owner, template, vmid))
    return tuple(placed)


def _guest(region: str, owner: GuestOwner, template: DesiredTemplate, vmid: Vmid) -> DesiredGuest:
    name = f"template/{template.host}/{template.name}"
    uuid = machine_uuid(owner.name, name)
    identity = GuestIdentity(cluster=region, vmid=vmid, name=template.name, uuid=uuid)
    hardware = replace(template.vm, onboot=False, protection=False, pci=(), usb=())
    values = {
        key: value
        for key, value in hardware_keys(hardware).items()
        if not key.startswith(_KEYS_WITHOUT_TEMPLATES)
    }
    cards = tuple(replace(nic, mac_addr=None) for nic in template.vm.nics)
    disk = ImportedDisk(
        slot=SYSTEM_DISK,
        storage=template.datastore,
        source=image_volume(template.image_storage, template.image.name),
        options=SYSTEM_DISK_OPTIONS,
    )
    small = replace(hardware, efi_disk=replace(hardware.efi_disk, datastore=template.datastore))
    if small.tpm is not None:
        small = replace(small, tpm=replace(small.tpm, datastore=template.datastore))
    return DesiredGuest(
        identity=identity,
        host=template.host,
        owner=owner,
        source=template.source,
        values={
            **values,
            **nic_keys(network_cards(owner.name, name, cards)),
            "smbios1": smbios_value(uuid),
            "name": template.name,
            "description": render_mark(build_mark(owner, identity), ""),
            "tags": format_tags(own_tags(owner.name, (TEMPLATE_TAG,))),
        },
        creation_values={"ostype": "l26", **volume_keys(small)},
        imported_disk=disk,
        system_disk=disk.slot,
        disk_gb=0,
        datastore=template.datastore,
        image=template.image,
        image_storage=template.image_storage,
    )
