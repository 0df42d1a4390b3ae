"""What the machines of a configuration need from the hosts of one Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.desired import Desired, Vm
from stockman.model.guest import Guest, GuestVm
from stockman.model.hardware import Hardware, Nic
from stockman.model.names import Datastore, HostName
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record, require
from stockman.proxmox.privileges import VmRequirements


@record
class HostRequirements:
    """What machines need, with the host that has to provide it."""

    hosts: frozenset[str]
    storages: frozenset[tuple[str, str, str]]
    """Host, storage, content."""
    bridges: frozenset[tuple[str, str]]
    """Host, bridge."""
    vms: VmRequirements


def host_requirements(desired: Desired | None, cluster: ProxmoxCluster) -> HostRequirements:
    """Return what machines need from a cluster; nothing if there is no configuration."""
    vms = [node.vm for node in (desired.nodes if desired else ()) if node.vm is not None]
    own = [vm for vm in vms if vm.region == cluster.region]
    guests = guests_in_cluster(desired, cluster)
    storages = frozenset(
        (*_vm_storages(own), *_guest_storages(guests), *_cluster_storages(cluster, own))
    )
    bridges = frozenset((*_vm_bridges(own), *_guest_bridges(guests)))
    placed = frozenset(_template_storages(desired, cluster))
    storages |= {(host, storage, "images") for host, storage in placed}
    hosts = frozenset((*(machine.host for machine in own), *(machine.host for machine in guests)))
    hosts |= {host for host, _ in placed}
    hardware: list[Hardware] = [*own, *(guest.vm for guest in guests if guest.vm is not None)]
    return HostRequirements(
        hosts=hosts,
        storages=storages,
        bridges=bridges,
        vms=VmRequirements(
            vmids=(*(machine.vmid for machine in own), *(machine.vmid for machine in guests)),
            hosts=tuple(sorted(hosts)),
            storages=tuple(sorted({storage for _, storage, _ in storages})),
            bridges=tuple(sorted({bridge for _, bridge in bridges})),
            vnets=dict(cluster.vnets),
            pools=any(machine.pool for machine in hardware),
            pci=any(machine.pci for machine in hardware),
            usb=any(machine.usb for machine in hardware),
            high_availability=any(
                machine.ha is not None and machine.ha.enabled for machine in hardware
            ),
            start_order=any(machine.start_order.order is not None for machine in hardware),
            privileged_containers=any(
                guest.container is not None and not guest.container.unprivileged for guest in guests
            ),
        ),
    )


def guests_in_cluster(desired: Desired | None, cluster: ProxmoxCluster) -> list[Guest]:
    """Return the guests of a cluster; with several clusters, those whose host it lists."""
    if desired is None:
        return []
    single = len(desired.proxmox) == 1
    managed = [guest for guest in desired.guests if guest.manage == "full"]
    return [guest for guest in managed if single or guest.host in cluster.hosts]


def _template_storages(
    desired: Desired | None, cluster: ProxmoxCluster
) -> Iterator[tuple[HostName, Datastore]]:
    """Return hosts and storages of templates."""
    machines = {node.name for node in (desired.nodes if desired else ()) if node.vm is not None}
    for template in cluster.templates:
        if template.like in machines:
            yield from ((host, require(template.datastore)) for host in template.hosts)


def _vm_storages(vms: Iterable[Vm]) -> Iterator[tuple[str, str, str]]:
    for vm in vms:
        for storage in (vm.datastore, *_cluster_wide(vm)):
            yield vm.host, storage, "images"


def _guest_storages(guests: Iterable[Guest]) -> Iterator[tuple[str, str, str]]:
    for guest in guests:
        if guest.vm is not None:
            for storage in (guest.vm.datastore, *_cluster_wide(guest.vm)):
                yield guest.host, storage, "images"
        if guest.container is not None:
            yield guest.host, guest.container.datastore, "rootdir"


def _cluster_wide(vm: Vm | GuestVm) -> Iterator[str]:
    yield from (disk.datastore for disk in vm.data_disks if disk.datastore is not None)
    if vm.bios == "ovmf" and vm.efi_disk.datastore is not None:
        yield vm.efi_disk.datastore
    if vm.tpm is not None and vm.tpm.datastore is not None:
        yield vm.tpm.datastore


def _cluster_storages(cluster: ProxmoxCluster, vms: Iterable[Vm]) -> Iterator[tuple[str, str, str]]:
    hosts = {vm.host for vm in vms}
    for storage, content in (
        (cluster.image_storage, "import"),
        (cluster.snippet_storage, "snippets"),
    ):
        if storage is not None:
            yield from ((host, storage, content) for host in hosts)


def _vm_bridges(vms: Iterable[Vm]) -> Iterator[tuple[str, str]]:
    for vm in vms:
        yield from _devices(vm.host, vm.nics)


def _guest_bridges(guests: Iterable[Guest]) -> Iterator[tuple[str, str]]:
    for guest in guests:
        if guest.vm is not None:
            yield from _devices(guest.host, guest.vm.nics)
        if guest.container is not None:
            yield from _devices(guest.host, guest.container.nics)


def _devices(host: str, nics: Iterable[Nic]) -> Iterator[tuple[str, str]]:
    return ((host, nic.bridge) for nic in nics)
