"""Small configurations for tests, and what is made of them."""

from __future__ import annotations

from stockman.config.load import LoadedConfig, load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired

CLUSTER = """\
cluster_name: meadow
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_enabled: false
repository_name: owner/meadow
talos_version: 1.13.9
proxmox_endpoint: https://127.66.0.4:8006
proxmox_token_id: stockman@pve!stockman
proxmox_token_secret: ${PROXMOX_TOKEN}
talos:
  extensions: [siderolabs/qemu-guest-agent]
"""

NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    mac_addr: bc:24:11:00:00:21
    vm: {vmid: 1021, host: pve-a}
"""


def loaded(cluster: str = CLUSTER, nodes: str = NODES) -> LoadedConfig:
    """Both files read and checked."""
    loaded_config = load({"cluster.yaml": cluster.encode(), "nodes.yaml": nodes.encode()})
    check_rules(loaded_config)
    return loaded_config


def desired(cluster: str = CLUSTER, nodes: str = NODES) -> Desired:
    """Both files resolved."""
    return resolve(loaded(cluster, nodes))


def codes(found: LoadedConfig) -> list[str]:
    """Codes of the problems, in reading order."""
    return [problem.code for problem in found.problems]
