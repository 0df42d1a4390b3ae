"""`meta-data`: which machine this is, and where; cloud controllers read it through Talos."""

from __future__ import annotations

from stockman.config.yaml_writer import dump
from stockman.model.desired import Node, Vm

_MIB_PER_GIB = 1024


def meta_data(node: Node) -> str:
    """The text of the file. Places are said of VMs alone: only theirs are known."""
    fields = {"instance-id": instance_id(node), "local-hostname": str(node.name)}
    if node.vm is not None:
        fields |= {
            "instance-type": instance_type(node.vm),
            "provider-id": provider_id(node.vm),
            "region": str(node.vm.region),
            "zone": str(node.vm.host),
        }
    return dump(fields)


def instance_id(node: Node) -> str:
    """What stays the same as long as the machine is the same."""
    return str(node.name) if node.vm is None else str(node.vm.uuid)


def instance_type(vm: Vm) -> str:
    """Size of a VM as the cloud controller of Proxmox writes it."""
    return f"{vm.cores * vm.sockets}VCPU-{vm.memory // _MIB_PER_GIB}GB"


def provider_id(vm: Vm) -> str:
    return f"proxmox://{vm.region}/{vm.vmid}"
