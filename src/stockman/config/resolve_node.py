"""Nodes in full: schematic, disk, VM, network cards with their addresses."""

from __future__ import annotations

from dataclasses import fields, replace
from ipaddress import IPv4Interface
from typing import Any

from stockman.config.derive import card_mac, machine_uuid
from stockman.config.given import given
from stockman.config.language.estate import Estate
from stockman.config.language.node import NodeSection, VmSection
from stockman.config.resolve_hardware import with_places
from stockman.config.resolve_settings import machine_settings
from stockman.config.rules.placement import clusters_of
from stockman.model.desired import Node, Role, Schematic, Vm
from stockman.model.expectation import Expect
from stockman.model.hardware import DataDisk, Hardware, HighAvailability, Nic
from stockman.model.names import ClassName, Mac, NodeName, Region
from stockman.model.origin import Origin, Traced, derived

_SCSI_DISK = "/dev/sda"


def resolved_nodes(estate: Estate) -> tuple[Node, ...]:
    """All nodes in the order written."""
    return tuple(_node(estate, node) for node in estate.nodes)


def _node(estate: Estate, node: NodeSection) -> Node:
    name = given(node.name)
    prefix = given(estate.network.node_cidr).prefixlen
    controller = bool(node.controller)
    origins = dict(node.origins)
    if "controller" in origins:
        origins["role"] = origins["controller"]
    if "class_" in origins:
        origins["node_class"] = origins["class_"]
    origins |= {name: at for name, at in node.talos.origins.items() if name.startswith("patches")}
    if node.disk is None and node.disk_selector is None:
        origins["disk"] = derived("the first SCSI disk of the VM")
    node_class = node.class_ or _class_of_role(estate, controller=controller)
    if node.class_ is None and node_class is not None:
        origins["node_class"] = derived("class of the role")
    return Node(
        origins=origins,
        name=name,
        role=Role.CONTROLLER if controller else Role.WORKER,
        node_class=node_class,
        address=IPv4Interface(f"{given(node.address)}/{prefix}"),
        mac_addr=given(node.mac_addr),
        disk=node.disk or ("" if node.disk_selector is not None else _SCSI_DISK),
        disk_selector=node.disk_selector,
        schematic=_schematic(estate, node),
        mtu=node.mtu,
        secureboot=node.secureboot,
        encrypt_disk=node.encrypt_disk,
        kernel_modules=node.kernel_modules,
        patches=node.talos.patches,
        bond=node.bond,
        routes=node.routes,
        vlans=node.vlans,
        links=node.links,
        settings=machine_settings(estate.talos, node.talos),
        labels=node.labels,
        annotations=node.annotations,
        taints=node.taints,
        expect=_expect(node),
        vm=_vm(estate, node, node.vm) if node.vm is not None else None,
    )


def _expect(node: NodeSection) -> Expect:
    expect = node.expect
    if expect.nic_count is not None or node.vm is None:
        return expect
    origins = {**expect.origins, "nic_count": derived("cards of the VM")}
    return replace(expect, origins=origins, nic_count=max(len(node.vm.nics), 1))


def _class_of_role(estate: Estate, *, controller: bool) -> ClassName | None:
    role = ClassName("controller" if controller else "worker")
    return role if role in estate.classes else None


def _schematic(estate: Estate, node: NodeSection) -> Schematic:
    talos = estate.talos
    role = "controller_schematic_id" if node.controller else "worker_schematic_id"
    own = node.talos
    candidates: list[tuple[Traced, str, str]] = [
        (node, "schematic_id", "id"),
        (own, "schematic", "written"),
    ]
    if not own.extensions and not own.kernel_args:
        candidates += [
            (talos, role, "id"),
            (talos, "schematic_id", "id"),
            (talos, "schematic", "written"),
        ]
    for section, field, kind in candidates:
        found = getattr(section, field)
        if found is not None:
            return Schematic(
                origins={kind: section.origins[field]} if field in section.origins else {},
                id=found if kind == "id" else None,
                written=found if kind == "written" else None,
                extensions=(),
                kernel_args=(),
            )
    origins: dict[str, Origin] = {}
    for field in ("extensions", "kernel_args"):
        written = own.origins.get(field) or talos.origins.get(field)
        if written is not None:
            origins[field] = written
    return Schematic(
        origins=origins,
        id=None,
        written=None,
        extensions=_joined(talos.extensions, own.extensions),
        kernel_args=_joined(talos.kernel_args, own.kernel_args),
    )


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _vm(estate: Estate, node: NodeSection, vm: VmSection) -> Vm:
    name = given(node.name)
    cluster = estate.cluster.name
    origins = dict(vm.origins)
    origins["name"] = derived("the node's name")
    if vm.uuid is None:
        origins["uuid"] = derived("from cluster and node name")
    if vm.region is None:
        origins["region"] = derived("the only Proxmox cluster")
    if vm.ha_group is not None:
        origins["ha"] = origins["ha_group"]
    filled = with_places(replace(vm, ha=_availability(vm), origins=origins), vm.datastore)
    shared: dict[str, Any] = {one.name: getattr(filled, one.name) for one in fields(Hardware)}
    return Vm(
        **shared,
        name=name,
        vmid=given(vm.vmid),
        host=given(vm.host),
        region=Region(vm.region) if vm.region is not None else _only_region(estate),
        uuid=vm.uuid or machine_uuid(cluster, name),
        disk_gb=vm.disk_gb,
        datastore=vm.datastore,
        data_disks=tuple(_data_disk(disk, vm) for disk in vm.data_disks),
        nics=_cards(cluster, name, given(node.mac_addr), vm),
    )


def _only_region(estate: Estate) -> Region:
    return clusters_of(given(estate.proxmox))[0].region


def _availability(vm: VmSection) -> HighAvailability | None:
    if vm.ha_group is None:
        return vm.ha
    return replace(vm.ha or HighAvailability(), group=vm.ha_group)


def _data_disk(disk: DataDisk, vm: VmSection) -> DataDisk:
    if disk.datastore is not None:
        return disk
    origins = {**disk.origins, "datastore": derived("the storage of the system disk")}
    return replace(disk, origins=origins, datastore=vm.datastore)


def _cards(cluster: str, node: NodeName, first: Mac, vm: VmSection) -> tuple[Nic, ...]:
    short = {field: vm.origins[field] for field in ("bridge", "vlan_id") if field in vm.origins}
    written = vm.nics or (Nic(origins=short, bridge=vm.bridge, vlan_id=vm.vlan_id),)
    cards = []
    for index, nic in enumerate(written):
        if index == 0:
            mac, reason = first, "the node's mac_addr"
        else:
            mac, reason = card_mac(cluster, node, index), "from cluster, node and position"
        if nic.mac_addr is None:
            origins = {**nic.origins, "mac_addr": derived(reason)}
            cards.append(replace(nic, origins=origins, mac_addr=mac))
        else:
            cards.append(nic)
    return tuple(cards)
