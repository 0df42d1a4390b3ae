"""Resolve nodes: schematic, disk, VM and network cards."""

from __future__ import annotations

from dataclasses import fields, replace
from ipaddress import IPv4Interface
from typing import Any

from stockman.config.defaults import (
    card_mac,
    complete_hardware,
    machine_uuid,
    merge_settings,
    require,
)
from stockman.config.language.configuration import Configuration
from stockman.config.language.node import NodeSection, VmSection
from stockman.config.rules.vms import proxmox_clusters
from stockman.model.desired import Node, Role, Schematic, Vm
from stockman.model.hardware import DataDisk, Hardware, HighAvailability, Nic
from stockman.model.machine import Expect
from stockman.model.names import ClassName, Mac, NodeName, Region
from stockman.model.origin import Origin, Traced, derivation

_SCSI_DISK = "/dev/sda"


def resolve_nodes(estate: Configuration) -> tuple[Node, ...]:
    """Return all nodes in their configured order."""
    return tuple(_resolve_node(estate, node) for node in estate.nodes)


def _resolve_node(estate: Configuration, node: NodeSection) -> Node:
    name = require(node.name)
    prefix = require(estate.network.node_cidr).prefixlen
    controller = bool(node.controller)
    origins = dict(node.origins)
    if "controller" in origins:
        origins["role"] = origins["controller"]
    if "class_" in origins:
        origins["node_class"] = origins["class_"]
    origins |= {name: at for name, at in node.talos.origins.items() if name.startswith("patches")}
    if node.disk is None and node.disk_selector is None:
        origins["disk"] = derivation("the first SCSI disk of the VM")
    node_class = node.class_ or _class_of_role(estate, controller=controller)
    if node.class_ is None and node_class is not None:
        origins["node_class"] = derivation("class of the role")
    return Node(
        origins=origins,
        name=name,
        role=Role.CONTROLLER if controller else Role.WORKER,
        node_class=node_class,
        address=IPv4Interface(f"{require(node.address)}/{prefix}"),
        mac_addr=require(node.mac_addr),
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
        settings=merge_settings(estate.talos, node.talos),
        labels=node.labels,
        annotations=node.annotations,
        taints=node.taints,
        expect=_expect(node),
        vm=_resolve_vm(estate, node, node.vm) if node.vm is not None else None,
    )


def _expect(node: NodeSection) -> Expect:
    expect = node.expect
    if expect.nic_count is not None or node.vm is None:
        return expect
    origins = {**expect.origins, "nic_count": derivation("cards of the VM")}
    return replace(expect, origins=origins, nic_count=max(len(node.vm.nics), 1))


def _class_of_role(estate: Configuration, *, controller: bool) -> ClassName | None:
    role = ClassName("controller" if controller else "worker")
    return role if role in estate.classes else None


def _schematic(estate: Configuration, node: NodeSection) -> Schematic:
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
        value = getattr(section, field)
        if value is not None:
            return Schematic(
                origins={kind: section.origins[field]} if field in section.origins else {},
                id=value if kind == "id" else None,
                written=value if kind == "written" else None,
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
        extensions=_unique_items(talos.extensions, own.extensions),
        kernel_args=_unique_items(talos.kernel_args, own.kernel_args),
    )


def _unique_items(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _resolve_vm(estate: Configuration, node: NodeSection, vm: VmSection) -> Vm:
    name = require(node.name)
    cluster = estate.cluster.name
    origins = dict(vm.origins)
    origins["name"] = derivation("the node's name")
    if vm.uuid is None:
        origins["uuid"] = derivation("from cluster and node name")
    if vm.region is None:
        origins["region"] = derivation("the only Proxmox cluster")
    if vm.ha_group is not None:
        origins["ha"] = origins["ha_group"]
    filled = complete_hardware(
        replace(vm, ha=_high_availability(vm), origins=origins), vm.datastore
    )
    shared: dict[str, Any] = {field.name: getattr(filled, field.name) for field in fields(Hardware)}
    return Vm(
        **shared,
        name=name,
        vmid=require(vm.vmid),
        host=require(vm.host),
        region=Region(vm.region) if vm.region is not None else _only_region(estate),
        uuid=vm.uuid or machine_uuid(cluster, name),
        disk_gb=vm.disk_gb,
        datastore=vm.datastore,
        data_disks=tuple(_data_disk(disk, vm) for disk in vm.data_disks),
        nics=_network_cards(cluster, name, require(node.mac_addr), vm),
    )


def _only_region(estate: Configuration) -> Region:
    return proxmox_clusters(require(estate.proxmox))[0].region


def _high_availability(vm: VmSection) -> HighAvailability | None:
    if vm.ha_group is None:
        return vm.ha
    return replace(vm.ha or HighAvailability(), group=vm.ha_group)


def _data_disk(disk: DataDisk, vm: VmSection) -> DataDisk:
    if disk.datastore is not None:
        return disk
    origins = {**disk.origins, "datastore": derivation("the storage of the system disk")}
    return replace(disk, origins=origins, datastore=vm.datastore)


def _network_cards(cluster: str, node: NodeName, first: Mac, vm: VmSection) -> tuple[Nic, ...]:
    short = {field: vm.origins[field] for field in ("bridge", "vlan_id") if field in vm.origins}
    written = vm.nics or (Nic(origins=short, bridge=vm.bridge, vlan_id=vm.vlan_id),)
    cards = []
    for index, nic in enumerate(written):
        if index == 0:
            mac, reason = first, "the node's mac_addr"
        else:
            mac, reason = card_mac(cluster, node, index), "from cluster, node and position"
        if nic.mac_addr is None:
            origins = {**nic.origins, "mac_addr": derivation(reason)}
            cards.append(replace(nic, origins=origins, mac_addr=mac))
        else:
            cards.append(nic)
    return tuple(cards)
