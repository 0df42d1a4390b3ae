"""What the machines of a configuration need from the hosts of one Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.model.desired import Desired, Vm
from stockman.model.guest import Guest, GuestVm
from stockman.model.hardware import Hardware, Nic
from stockman.model.names import Datastore, HostName
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.proxmox.privileges import VmRequirements


@record
class HostRequirements:
    """What machines need, each thing on the host that needs it."""

    hosts: frozenset[str]
    storages: frozenset[tuple[str, str, str]]
    """Host, storage, content."""
    bridges: frozenset[tuple[str, str]]
    """Host, bridge."""
    wish: VmRequirements


def host_requirements(desired: Desired | None, cluster: ProxmoxCluster) -> HostRequirements:
    """What machines need from a cluster; nothing is known where there is nothing desired."""
    vms = [one.vm for one in (desired.nodes if desired else ()) if one.vm is not None]
    own = [one for one in vms if one.region == cluster.region]
    guests = guests_in_cluster(desired, cluster)
    storages = frozenset(
        (*_vm_storages(own), *_guest_storages(guests), *_cluster_storages(cluster, own))
    )
    bridges = frozenset((*_vm_bridges(own), *_guest_bridges(guests)))
    placed = frozenset(_template_storages(desired, cluster))
    storages |= {(host, storage, "images") for host, storage in placed}
    hosts = frozenset((*(one.host for one in own), *(one.host for one in guests)))
    hosts |= {host for host, _ in placed}
    hardware: list[Hardware] = [*own, *(one.vm for one in guests if one.vm is not None)]
    return HostRequirements(
        hosts=hosts,
        storages=storages,
        bridges=bridges,
        wish=VmRequirements(
            vmids=(*(one.vmid for one in own), *(one.vmid for one in guests)),
            hosts=tuple(sorted(hosts)),
            storages=tuple(sorted({storage for _, storage, _ in storages})),
            bridges=tuple(sorted({bridge for _, bridge in bridges})),
            pools=any(one.pool for one in hardware),
            pci=any(one.pci for one in hardware),
            usb=any(one.usb for one in hardware),
            high_availability=any(one.ha is not None and one.ha.enabled for one in hardware),
            start_order=any(one.start_order.order is not None for one in hardware),
        ),
    )


def guests_in_cluster(desired: Desired | None, cluster: ProxmoxCluster) -> list[Guest]:
    """Guests of a cluster; of several clusters only those whose host it lists."""
    if desired is None:
        return []
    single = len(desired.proxmox) == 1
    managed = [one for one in desired.guests if one.manage == "full"]
    return [one for one in managed if single or one.host in cluster.hosts]


def _template_storages(
    desired: Desired | None, cluster: ProxmoxCluster
) -> Iterator[tuple[HostName, Datastore]]:
    """Hosts and storages of templates."""
    vms = {one.name: one.vm for one in (desired.nodes if desired else ())}
    for template in cluster.templates:
        vm = vms.get(template.like)
        if vm is not None:
            storage = template.datastore or vm.datastore
            yield from ((host, storage) for host in template.hosts or (vm.host,))


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
