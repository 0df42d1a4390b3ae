"""What variables of Terraform stacks for Talos on Proxmox are called, and where they belong."""

from __future__ import annotations

import re

_NAMES: dict[str, tuple[str, ...]] = {
    "cluster.name": ("cluster_name", "talos_cluster_name"),
    "network.node_cidr": ("node_cidr", "network_cidr", "node_network"),
    "network.dns_servers": ("dns_servers", "nameservers", "node_dns_servers"),
    "network.ntp_servers": ("ntp_servers", "time_servers", "node_ntp_servers"),
    "network.default_gateway": (
        "gateway",
        "default_gateway",
        "network_gateway",
        "node_default_gateway",
    ),
    "kubernetes.version": ("kubernetes_version", "k8s_version"),
    "kubernetes.pod_cidr": ("pod_cidr", "pod_subnet", "cluster_pod_cidr"),
    "kubernetes.svc_cidr": ("svc_cidr", "service_cidr", "service_subnet", "cluster_svc_cidr"),
    "kubernetes.api.addr": (
        "cluster_api_addr",
        "cluster_endpoint",
        "cluster_vip",
        "api_vip",
        "kubernetes_vip",
        "vip",
        "vip_address",
    ),
    "domain.name": ("domain", "domain_name", "cloudflare_domain"),
    "talos.version": ("talos_version",),
    "talos.factory_url": ("talos_factory_url", "image_factory_url", "factory_url"),
    "talos.schematic_id": ("schematic_id", "talos_schematic_id", "talos_schematic"),
    "talos.controller_schematic_id": (
        "controller_schematic_id",
        "control_plane_schematic_id",
        "controlplane_schematic_id",
    ),
    "talos.worker_schematic_id": ("worker_schematic_id",),
    "proxmox.endpoint": (
        "proxmox_endpoint",
        "proxmox_api_endpoint",
        "proxmox_api_url",
        "proxmox_url",
        "pm_api_url",
        "pve_api_url",
        "pve_endpoint",
        "virtual_environment_endpoint",
    ),
    "proxmox.token_id": ("proxmox_token_id", "proxmox_api_token_id", "pm_api_token_id"),
    "proxmox.token_secret": (
        "proxmox_token_secret",
        "proxmox_api_token_secret",
        "pm_api_token_secret",
    ),
    "proxmox.image_storage": (
        "image_storage",
        "image_datastore",
        "image_datastore_id",
        "iso_datastore",
        "iso_storage",
    ),
}
PATHS = {name: path for path, names in _NAMES.items() for name in names}
"""Path in the one shape by the name of a variable."""

WHOLE_TOKENS = ("proxmox_api_token", "proxmox_token", "virtual_environment_api_token")
"""Variables with id and secret of a token in one text, `user@realm!name=secret`."""

_OF_ALL_VMS = {
    "bridge": ("bridge", "network_bridge", "vm_bridge"),
    "datastore": ("datastore", "datastore_id", "vm_datastore", "vm_storage", "storage"),
    "vlan_id": ("vlan_id", "vlan", "vlan_tag", "vm_vlan_id"),
    "cpu_type": ("cpu_type", "vm_cpu_type"),
}
OF_ALL_VMS = {name: key for key, names in _OF_ALL_VMS.items() for name in names}
"""Key of a VM by the name of a variable that holds for all of them."""

OF_ALL_NODES = {"install_disk": "disk", "talos_install_disk": "disk"}
"""Key of a node by the name of a variable that holds for all of them."""

_OF_ROLE = {
    "cores": ("cores", "cpu", "cpus", "cpu_cores", "vcpus"),
    "memory": ("memory", "memory_mb", "ram"),
    "disk_gb": ("disk", "disk_gb", "disk_size", "disk_size_gb"),
}
_KEY_OF_ROLE = {name: key for key, names in _OF_ROLE.items() for name in names}
_PREFIX = re.compile(
    r"(?:(?P<controller>controller|controlplane|control_plane|cp|master)|worker)s?_"
)
_CONTROLLERS = re.compile(r"control|master|(?:^|_)cp(?:_|$)")
_WORKERS = re.compile(r"worker")


def of_role(name: str) -> tuple[str, str] | None:
    """Class and key of its VMs that a variable such as `worker_memory` names; None: none."""
    prefix = _PREFIX.match(name)
    key = _KEY_OF_ROLE.get(name[prefix.end() :]) if prefix is not None else None
    if prefix is None or key is None:
        return None
    return ("controller" if prefix["controller"] else "worker"), key


def says_controller(name: str) -> str | None:
    """Whether a name speaks of controllers, `true` or `false`; None: of neither role."""
    if _CONTROLLERS.search(name):
        return "true"
    return "false" if _WORKERS.search(name) else None
