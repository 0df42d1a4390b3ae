"""Configurations of any size for measuring."""

from __future__ import annotations

_CLUSTER = """\
cluster_name: meadow
node_cidr: 127.64.0.0/12
cluster_api_addr: 127.64.0.2
cluster_dns_gateway_addr: 127.64.0.3
cluster_gateway_addr: 127.64.0.4
cloudflare_gateway_addr: 127.64.0.5
cloudflare_domain: example.com
cloudflare_token: ${CLOUDFLARE_TOKEN}
repository_name: owner/meadow
talos_version: 1.13.9
kubernetes_version: 1.36.3
proxmox_endpoint: https://127.64.0.6:8006
proxmox_token_id: stockman@pve!stockman
proxmox_token_secret: ${PROXMOX_TOKEN}
talos: {extensions: [siderolabs/qemu-guest-agent]}
"""

_NODE = """\
  - name: node-{number}
    address: 127.{second}.{third}.{fourth}
    controller: {controller}
    disk: /dev/sda
    mac_addr: "bc:24:11:{a:02x}:{b:02x}:{c:02x}"
    schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
    mtu: 9000
    vm:
      vmid: {vmid}
      host: pve-{host}
      cores: 8
      memory: 16384
      nics: [{{bridge: vmbr1}}, {{bridge: vmbr1, vlan_id: 62}}, {{bridge: vmbr1, vlan_id: 81}}]
"""


def estate(nodes: int) -> dict[str, bytes]:
    """Both files of a cluster with so many nodes, three of them controllers."""
    lines = ["nodes:\n"]
    for number in range(nodes):
        folder = number + 16
        lines.append(
            _NODE.format(
                number=number,
                second=65 + (folder >> 16),
                third=folder >> 8 & 255,
                fourth=folder & 255,
                controller="true" if number < min(nodes, 3) else "false",
                a=number >> 16,
                b=number >> 8 & 255,
                c=number & 255,
                vmid=1000 + number,
                host=number,
            )
        )
    return {"cluster.yaml": _CLUSTER.encode(), "nodes.yaml": "".join(lines).encode()}
