"""Templates that should be: the image and the hardware of a node, once on every host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.config.defaults import machine_uuid
from stockman.model.desired import Cluster, Desired, Node, Vm
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster, VmTemplate
from stockman.model.proxmox_values import format_tags
from stockman.model.record import record
from stockman.planning.fact import Fact
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest, owner_of
from stockman.planning.vm.images import DesiredImage, find_node_image
from stockman.planning.vm.keys import SYSTEM_DISK_OPTIONS, hardware_keys, nic_keys, volume_keys
from stockman.planning.vm.ownership import (
    TEMPLATE_TAG,
    OwnerMark,
    own_tags,
    parse_mark,
    render_mark,
)
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.system_disk import ImportedDisk
from stockman.talos.images import node_image, template_name

_KEYS_WITHOUT_TEMPLATES = ("hostpci", "startup", "usb")
"""Families of keys that belong to one machine alone."""


@record
class DesiredTemplate:
    """One template on one host; which number it gets is up to what is there."""

    name: str
    """That of its VM."""
    host: HostName
    datastore: Datastore
    image: DesiredImage
    image_storage: Datastore
    first_vmid: int
    vm: Vm
    """What it is like."""
    source: VmTemplate


def build_desired_templates(
    desired: Desired, cluster: ProxmoxCluster, problems: Problems
) -> tuple[DesiredTemplate, ...]:
    """All templates of one Proxmox cluster."""
    if desired.cluster is None:
        return ()
    nodes = {node.name: node for node in desired.nodes}
    return tuple(
        wish
        for template in cluster.templates
        if (node := nodes.get(template.like)) is not None and node.vm is not None
        for wish in _on_hosts(desired.cluster, cluster, template, (node, node.vm), problems)
    )


def _on_hosts(
    whole: Cluster,
    cluster: ProxmoxCluster,
    template: VmTemplate,
    like: tuple[Node, Vm],
    problems: Problems,
) -> Iterator[DesiredTemplate]:
    node, vm = like
    found = node_image(node, whole.talos, Problems())
    image = find_node_image(whole, node, problems)
    if found is None or image is None:
        return
    datastore = template.datastore or vm.datastore
    for host in template.hosts or (vm.host,):
        yield DesiredTemplate(
            name=template_name(template.name, found),
            host=HostName(host),
            datastore=datastore,
            image=image,
            image_storage=cluster.image_storage or datastore,
            first_vmid=template.first_vmid,
            vm=vm,
            source=template,
        )


def find_own_templates(
    seen: ObservedProxmox, owner: str
) -> Iterator[tuple[GuestSummary, VmConfig]]:
    """Templates that stockman made for an owner, finished or not."""
    for guest in seen.guests():
        fact = seen.configs.get(guest.vmid)
        if TEMPLATE_TAG not in guest.tags or not isinstance(fact, Fact):
            continue
        mark = parse_mark(fact.value.get("description"))
        if mark is not None and mark.owner == owner and mark.name == fact.value.name:
            yield guest, fact.value


def assign_template_vmids(
    desired: Desired,
    seen: ObservedProxmox,
    wishes: tuple[DesiredTemplate, ...],
    taken: frozenset[Vmid],
) -> tuple[DesiredGuest, ...]:
    """Templates with their numbers: the one that is there, or the lowest that is free."""
    owner = owner_of(desired)
    there = {
        (str(guest.host), config.name): guest.vmid
        for guest, config in find_own_templates(seen, owner)
    }
    used = {guest.vmid for guest in seen.guests()} | taken
    used |= {Vmid(one.vmid) for one in desired.guests}
    placed: list[DesiredGuest] = []
    for wish in wishes:
        vmid = there.get((str(wish.host), wish.name))
        if vmid is None:
            free = wish.first_vmid
            while Vmid(free) in used:
                free += 1
            vmid = Vmid(free)
        used.add(vmid)
        placed.append(_guest(seen.name, owner, wish, vmid))
    return tuple(placed)


def _guest(region: str, owner: str, wish: DesiredTemplate, vmid: Vmid) -> DesiredGuest:
    name = f"template/{wish.host}/{wish.name}"
    uuid = machine_uuid(owner, name)
    hardware = replace(wish.vm, onboot=False, protection=False, pci=(), usb=())
    values = {
        key: value
        for key, value in hardware_keys(hardware).items()
        if not key.startswith(_KEYS_WITHOUT_TEMPLATES)
    }
    cards = tuple(replace(nic, mac_addr=None) for nic in wish.vm.nics)
    disk = ImportedDisk(
        slot="scsi0",
        storage=wish.datastore,
        source=f"{wish.image_storage}:import/{wish.image.name}",
        options=SYSTEM_DISK_OPTIONS,
    )
    small = replace(hardware, efi_disk=replace(hardware.efi_disk, datastore=wish.datastore))
    if small.tpm is not None:
        small = replace(small, tpm=replace(small.tpm, datastore=wish.datastore))
    return DesiredGuest(
        who=GuestIdentity(cluster=region, vmid=vmid, name=wish.name, uuid=uuid),
        host=wish.host,
        owner=owner,
        source=wish.source,
        values={
            **values,
            **nic_keys(cards, owner, name),
            "smbios1": f"uuid={uuid}",
            "name": wish.name,
            "description": render_mark(OwnerMark(owner=owner, name=wish.name), ""),
            "tags": format_tags(own_tags(owner, (TEMPLATE_TAG,))),
        },
        made_with={"ostype": "l26", **volume_keys(small, wish.datastore)},
        copied=disk,
        system_disk=disk.slot,
        disk_gb=0,
        datastore=wish.datastore,
        image=wish.image,
        image_storage=wish.image_storage,
    )
