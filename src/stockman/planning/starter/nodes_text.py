"""`nodes.yaml` for a Proxmox cluster that was looked at."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.defaults import card_mac
from stockman.config.writers.yaml_writer import format_scalar
from stockman.planning.starter.comments import listing, paragraph
from stockman.planning.starter.draft import Draft
from stockman.planning.starter.observed import StarterHost
from stockman.planning.starter.sizing import MachineSize, PlacedMachine

_GIVEN_AWAY = ("0x03", "0x0b", "0x12")
"""Classes of PCI devices that machines are given: displays, processors, accelerators."""
_HUBS = "1d6b"


def nodes_text(draft: Draft, first_vmid: int, name: str) -> str:
    """The file, with VMs numbered from the first on."""
    return "\n".join(_lines(draft, first_vmid, name)) + "\n"


def _lines(draft: Draft, first_vmid: int, name: str) -> Iterator[str]:
    yield from _head(draft, first_vmid)
    yield ""
    yield "classes:"
    storages, placing = draft.storages, draft.placing
    yield "  # Holds for every controller that names no other class."
    yield from _class(draft, "controller", placing.controller, storages.controller_disk)
    if placing.worker is not None:
        yield ""
        yield "  # Holds for every worker that names no other class."
        yield from _class(draft, "worker", placing.worker, storages.worker_disk)
    yield ""
    yield "nodes:"
    named = zip(placing.machines, _names(draft, name), strict=True)
    for number, (machine, node) in enumerate(named):
        if number:
            yield ""
        yield f"  - name: {format_scalar(node)}"
        yield f"    address: {draft.network.nodes[number]}"
        yield f"    controller: {str(machine.is_controller).lower()}"
        vmid = first_vmid + number
        # With the number in it, two clusters of one name on the same hosts have other addresses.
        yield f'    mac_addr: "{card_mac(name, f"{node}/{vmid}", 0)}"'
        yield f"    vm: {{{_placement_lines(draft, machine, vmid)}}}"


def _head(draft: Draft, first_vmid: int) -> Iterator[str]:
    last = first_vmid + draft.shape.count - 1
    free = f"VM ids {first_vmid} to {last} were free" if draft.shape.count > 1 else ""
    yield "# The machines of the cluster."
    yield "#"
    yield from paragraph(
        f"{free or f'VM id {last} was free'}. MAC addresses are made from the names of cluster and"
        " node and the VM id. What is not said here has its default, which `stockman config show"
        " --origin` lists."
    )
    yield "#"
    yield from paragraph(_spread(draft))
    devices = [row for host in draft.hosts for row in _devices(host)]
    if devices:
        yield "#"
        yield from paragraph(
            "Devices that could be given to machines, through a mapping: `stockman explain"
            " hosts.passthrough` tells how to describe one, and `stockman explain nodes.vm.pci` how"
            " a machine gets it."
        )
        yield from listing(devices)
    if draft.found.mappings:
        yield "#"
        yield "# Mappings that are there already:"
        yield from listing((one, "") for one in draft.found.mappings)


def _spread(draft: Draft) -> str:
    hosts = len(draft.placing.hosts)
    if draft.shape.controllers == 1:
        return f"The machine is on {draft.placing.hosts[0]}, where most memory was left."
    if hosts < draft.shape.controllers:
        return (
            "There are fewer hosts than controllers: when a host with two of them is down, etcd has"
            " no majority."
        )
    return "Every controller is on a host of its own" + (
        "; workers are where most memory was left." if draft.shape.workers else "."
    )


def _class(draft: Draft, name: str, size: MachineSize, disk: int) -> Iterator[str]:
    yield f"  {name}:"
    yield "    disk: /dev/sda"
    yield "    vm:"
    yield f"      cores: {size.cores}"
    yield f"      memory: {size.memory}"
    yield f"      disk_gb: {disk}"
    if draft.storages.common is not None:
        yield f"      datastore: {format_scalar(draft.storages.common)}"
    yield f"      bridge: {format_scalar(draft.network.bridge)}"
    if draft.network.vlan is not None:
        yield f"      vlan_id: {draft.network.vlan}"


def _placement_lines(draft: Draft, machine: PlacedMachine, vmid: int) -> str:
    place = f"vmid: {vmid}, host: {format_scalar(machine.host)}"
    if draft.storages.common is not None:
        return place
    return f"{place}, datastore: {format_scalar(draft.storages.disks[machine.host])}"


def _names(draft: Draft, name: str) -> Iterator[str]:
    counts = {True: 0, False: 0}
    for machine in draft.placing.machines:
        counts[machine.is_controller] += 1
        yield f"{name}-{_kind(draft, machine)}{counts[machine.is_controller]}"


def _kind(draft: Draft, machine: PlacedMachine) -> str:
    if draft.placing.worker is None:
        return ""
    return "ctrl-" if machine.is_controller else "work-"


def _devices(host: StarterHost) -> Iterator[tuple[str, str]]:
    for one in host.pci:
        if one.device_class.startswith(_GIVEN_AWAY):
            group = (
                f"IOMMU group {one.iommu_group}"
                if one.iommu_group is not None
                else "no IOMMU group: switch the IOMMU on first"
            )
            ids = f"{one.vendor.removeprefix('0x')}:{one.device.removeprefix('0x')}"
            told = f"{one.vendor_name} {one.device_name}".strip()
            yield f"{host.name} PCI {one.address}", f"{ids}, {told}, {group}"
    for usb in host.usb:
        vendor = usb.vendor.removeprefix("0x")
        if vendor != _HUBS:
            ids = f"{vendor}:{usb.product.removeprefix('0x')}"
            told = f"{usb.vendor_name} {usb.product_name}".strip()
            yield f"{host.name} USB {ids}", told or "without a name"
