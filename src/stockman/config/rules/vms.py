"""VM blocks: complete, and free of settings that Talos or Proxmox cannot work with."""

from __future__ import annotations

from stockman.config.language.node import NodeSection, VmSection
from stockman.config.rules.context import Context
from stockman.model.hardware import Hardware
from stockman.model.origin import Origin

_TALOS_MEMORY = 2048


def check(context: Context) -> None:
    for node in context.estate.nodes:
        if node.vm is not None:
            _check_node(context, node, node.vm)
    for guest in context.estate.guests:
        if guest.vm is not None:
            _check_hardware(context, f"guest {guest.name}", guest.vm)


def _check_node(context: Context, node: NodeSection, vm: VmSection) -> None:
    owner = f"node {node.name}"
    for field in ("vmid", "host"):
        if getattr(vm, field) is None and field not in vm.origins:
            context.problems.error(
                "config.missing-key",
                f"the VM of {owner} has no {field}",
                why=f"a VM is made, found and destroyed only by a {field} that is written down",
                fix=f"add `{field}:` to its `vm:` block",
                at=vm.where(),
            )
    _check_hardware(context, owner, vm)
    if vm.memory < _TALOS_MEMORY:
        context.problems.error(
            "vm.memory-small",
            f"{owner} has too little memory",
            why=f"{vm.memory} MiB; Talos needs {_TALOS_MEMORY} MiB at least",
            fix="give it 4096 MiB (controller) or 8192 MiB (worker)",
            at=vm.where("memory"),
        )
    if vm.scsihw == "virtio-scsi-single":
        context.problems.warn(
            "vm.scsi-single",
            f"{owner} uses a disk controller that Talos has trouble with",
            why="with virtio-scsi-single the bootstrap has been seen to hang",
            fix="use virtio-scsi-pci",
            at=vm.where("scsihw"),
        )
    if vm.ha_group is not None and vm.ha is not None and vm.ha.group is not None:
        context.problems.error(
            "vm.ha-twice",
            f"{owner} has two HA groups",
            why=f"ha_group is {vm.ha_group}, ha.group is {vm.ha.group}",
            fix="keep one of the two",
            at=vm.where("ha_group"),
        )
    if vm.nics and ("bridge" in vm.origins or "vlan_id" in vm.origins):
        field = "bridge" if "bridge" in vm.origins else "vlan_id"
        context.problems.error(
            "vm.nics-twice",
            f"{owner} describes its network cards twice",
            why=f"`{field}` is short for one card, and `nics` lists all of them",
            fix=f"remove `{field}`, or `nics`",
            at=vm.where(field),
        )
    _check_expectations(context, node, vm)


def _check_hardware(context: Context, owner: str, vm: Hardware) -> None:
    if vm.balloon > vm.memory:
        context.problems.error(
            "vm.balloon",
            f"{owner} keeps more memory than it has",
            why=f"balloon is {vm.balloon} MiB, memory is {vm.memory} MiB",
            fix="set `balloon: 0`",
            at=vm.where("balloon"),
        )
    for pci in vm.pci:
        if (pci.mapping is None) == (pci.address is None):
            _device_named_once(context, owner, "address", pci.where())
    for usb in vm.usb:
        if (usb.mapping is None) == (usb.id is None):
            _device_named_once(context, owner, "id", usb.where())
    for pci in vm.pci:
        if pci.pcie and vm.machine != "q35":
            context.problems.error(
                "vm.pcie",
                f"{owner} has a PCI Express device on a machine without PCI Express",
                why=f"machine is {vm.machine}",
                fix="set `machine: q35`, or `pcie: false` for the device",
                at=pci.where(),
            )
    seen: set[str] = set()
    for disk in getattr(vm, "data_disks", ()):
        if disk.name in seen:
            context.problems.error(
                "vm.disk-name-taken",
                f"{owner} has two data disks called {disk.name}",
                why="the name is the disk's serial number inside of the guest",
                fix="give each disk a name of its own",
                at=disk.where("name"),
            )
        seen.add(disk.name)


def _device_named_once(context: Context, owner: str, other: str, where: Origin | None) -> None:
    context.problems.error(
        "vm.device",
        f"{owner} has a device that is not named once",
        why=f"exactly one of `mapping` and `{other}` says which device is meant",
        fix=f"give `mapping`, or `{other}`, not both",
        at=where,
    )


def _check_expectations(context: Context, node: NodeSection, vm: VmSection) -> None:
    expect = node.expect
    cards = max(len(vm.nics), 1)
    if expect.nic_count is not None and expect.nic_count != cards:
        context.problems.error(
            "expect.nic-count",
            f"node {node.name} would never have the cards it should have",
            why=f"expect.nic_count is {expect.nic_count}, the VM has {cards}",
            fix="add the missing cards to `nics`, or correct nic_count",
            at=expect.where("nic_count"),
        )
    tags = {nic.vlan_id for nic in vm.nics} | {vm.vlan_id}
    for index, vlan in enumerate(expect.vlans):
        if vlan not in tags:
            context.problems.error(
                "expect.vlan",
                f"node {node.name} would never be in VLAN {vlan}",
                why="no card of its VM carries that tag",
                fix=f"add a card with `vlan_id: {vlan}`, or remove the expectation",
                at=expect.origins.get(f"vlans[{index}]") or expect.where("vlans"),
            )
