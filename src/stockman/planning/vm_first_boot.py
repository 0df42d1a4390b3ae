"""What a node is told at its first boot: by keys of its VM, or by an image where they do not do."""

from __future__ import annotations

from dataclasses import field

from stockman.model.desired import Cluster, Desired, Node, Vm
from stockman.model.record import record
from stockman.talos.nocloud.meta_data import instance_id, meta_data
from stockman.talos.nocloud.native import CustomIso, Delivery, native_or_iso
from stockman.talos.nocloud.network_config import network_config, suitable_form
from stockman.talos.nocloud.node_network import node_network
from stockman.talos.nocloud.seed import META_DATA, NETWORK_CONFIG
from stockman.talos.nocloud.smbios import serial, smbios1

_NOCLOUD = "nocloud"
_IDENTITY = "smbios1"


@record
class SeedWish:
    """An image of its own for a node."""

    files: dict[str, str]
    because: str


@record
class FirstBootWish:
    """Keys of a node's VM, and the image that it needs besides."""

    identity: dict[str, str]
    """The key that tells a machine who it is."""
    keys: dict[str, str] = field(default_factory=dict)
    """What its network is like."""
    seed: SeedWish | None = None
    """None: the keys say everything."""
    has_drive: bool = False
    """Whether Proxmox VE makes a drive from the keys."""


def needs_labels(desired: Desired) -> bool:
    """Talos' cloud controller reads meta-data; that of Proxmox asks Proxmox."""
    components = desired.components
    enabled = {name for name, component in components.items() if component.enabled is True}
    return "talos-ccm" in enabled and "proxmox-ccm" not in enabled


def first_boot_wish(desired: Desired, cluster: Cluster, node: Node, vm: Vm) -> FirstBootWish:
    """How a node learns its name and its network."""
    if cluster.talos.platform != _NOCLOUD:
        return FirstBootWish(identity={_IDENTITY: f"uuid={vm.uuid}"})
    text = serial(hostname=str(node.name), instance_id=instance_id(node))
    identity = {_IDENTITY: smbios1(vm.uuid, text)}
    network = node_network(cluster, node)
    found = native_or_iso(node, network, Delivery(labels=needs_labels(desired)))
    if not isinstance(found, CustomIso):
        keys = {key: value for key, value in found.keys.items() if key != _IDENTITY}
        return FirstBootWish(identity=identity, keys=keys, has_drive=True)
    files = {
        META_DATA: meta_data(node),
        NETWORK_CONFIG: network_config(network, suitable_form(network)),
    }
    why = "; ".join(f"{one.what}: {one.why}" for one in found.wishes if one.needed)
    return FirstBootWish(identity=identity, seed=SeedWish(files=files, because=why))
