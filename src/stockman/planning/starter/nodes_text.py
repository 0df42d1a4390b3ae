"""Renders `nodes.yaml` for an observed Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.config.resolve import card_mac
from stockman.config.writers.yaml_writer import format_scalar
from stockman.planning.starter.comments import listing, paragraph
from stockman.planning.starter.draft import Draft
from stockman.planning.starter.observed import StarterHost
from stockman.planning.starter.sizing import MachineSize, PlacedMachine

_USABLE_CLASSES = ("0x03", "0x0b", "0x12")
"""PCI device classes that are useful for machines: displays, processors, accelerators."""
_HUBS = "1d6b"


def nodes_text(draft: Draft, first_vmid: int, name: str) -> str:
    """Return the file, with consecutive VMIDs."""
    return "\n".join(_lines(draft, first_vmid, name)) + "\n"


def _lines(draft: Draft, first_vmid: int, name: str) -> Iterator[str]:
    yield from _header(draft, first_vmid)
    yield ""
    yield "classes:"
    storages, placing = draft.storages, draft.placing
    yield "  # Applies to every controller without another class."
    yield from _class(draft, "controller", placing.controller, storages.controller_disk)
    if placing.worker is not None:
        yield ""
        yield "  # Applies to every worker without another class."
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
        # With the VMID, two clusters of the same name on the same hosts have different addresses.
        yield f'    mac_addr: "{card_mac(name, f"{node}/{vmid}", 0)}"'
        yield f"    vm: {{{_placement_lines(draft, machine, vmid)}}}"


def _header(draft: Draft, first_vmid: int) -> Iterator[str]:
    last = first_vmid + draft.shape.count - 1
    free = f"VM ids {first_vmid} to {last} were free" if draft.shape.count > 1 else ""
    yield "# The machines of the cluster."
    yield "#"
    yield from paragraph(
        f"{free or f'VM id {last} was free'}. MAC addresses are derived from the names of cluster"
        " and node and the VM id. `stockman config show --origin` lists the defaults of everything"
        " that is not set here.",
    )
    yield "#"
    yield from paragraph(_spread(draft))
    devices = [row for host in draft.hosts for row in _devices(host)]
    if devices:
        yield "#"
        yield from paragraph(
            "Devices that machines could use, through a mapping: `stockman explain"
            " hosts.passthrough` shows how to define one, `stockman explain nodes.vm.pci` how a"
            " machine uses it."
        )
        yield from listing(devices)
    if draft.observed.mappings:
        yield "#"
        yield "# Existing mappings:"
        yield from listing((mapping, "") for mapping in draft.observed.mappings)


def _spread(draft: Draft) -> str:
    hosts = len(draft.placing.hosts)
    if draft.shape.controllers == 1:
        return f"The machine is on {draft.placing.hosts[0]}, which had the most free memory."
    if hosts < draft.shape.controllers:
        return (
            "There are fewer hosts than controllers: if a host with two of them fails, etcd loses"
            " its majority."
        )
    return "Every controller has its own host" + (
        "; workers are on the hosts with the most free memory." if draft.shape.workers else "."
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
    location = f"vmid: {vmid}, host: {format_scalar(machine.host)}"
    if draft.storages.common is not None:
        return location
    return f"{location}, datastore: {format_scalar(draft.storages.disks[machine.host])}"


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
    for device in host.pci:
        if device.device_class.startswith(_USABLE_CLASSES):
            group = (
                f"IOMMU group {device.iommu_group}"
                if device.iommu_group is not None
                else "no IOMMU group: enable the IOMMU first"
            )
            ids = f"{device.vendor.removeprefix('0x')}:{device.device.removeprefix('0x')}"
            description = f"{device.vendor_name} {device.device_name}".strip()
            yield f"{host.name} PCI {device.address}", f"{ids}, {description}, {group}"
    for usb in host.usb:
        vendor = usb.vendor.removeprefix("0x")
        if vendor != _HUBS:
            ids = f"{vendor}:{usb.product.removeprefix('0x')}"
            description = f"{usb.vendor_name} {usb.product_name}".strip()
            yield f"{host.name} USB {ids}", description or "unnamed"
