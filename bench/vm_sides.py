"""The two sides that make the same VMs: stockman, and OpenTofu with the provider of bpg."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.vm_lab import HOSTS, IMAGE, NETWORK, VmLab

FIRST = 1000
"""Number of the first VM."""
NO_CHANGES, CHANGES = 0, 2
_GATEWAY = NETWORK.network_address + 1
_NET = ".".join(str(NETWORK.network_address).split(".")[:2])
_CONTROLLERS = 3
_CLUSTER = """\
cluster_name: meadow
proxmox_endpoint: {endpoint}
proxmox_token_id: {token}
proxmox_token_secret: ${{PROXMOX_TOKEN_SECRET}}
proxmox: {{tls: {{ca_file: {ca}}}, image_storage: local}}
"""
_GUEST = """\
  - name: vm-{number}
    vmid: {vmid}
    host: {host}
    address: {address}
    vm:
      cores: 2
      memory: 2048
      disk_gb: 20
      datastore: local-lvm
      agent: {agent}
      nics: [{{bridge: vmbr1, mac_addr: "{mac}"}}]
      image: {{volume: "{image}"}}
      cloud_init: {{address: {address}/16, gateway: {gateway}}}
"""
_TALOS = """\
node_cidr: {net}.0.0/16
node_default_gateway: {net}.0.1
cluster_api_addr: {net}.0.10
cluster_gateway_addr: {net}.0.11
cluster_dns_gateway_addr: {net}.0.12
cluster_pod_cidr: 10.64.0.0/12
repository_name: example/meadow
cloudflare_enabled: false
talos_version: 1.13.9
kubernetes_version: 1.36.3
talos: {{factory_url: "{factory}", extensions: [siderolabs/qemu-guest-agent]}}
"""
_NODE = """\
  - name: vm-{number}
    address: {address}
    controller: {controller}
    disk: /dev/sda
    mac_addr: "{mac}"
    vm: {{vmid: {vmid}, host: {host}, cores: 2, memory: 2048, disk_gb: 20,
         datastore: local-lvm, bridge: vmbr1}}
"""
_VM = """\
resource "proxmox_virtual_environment_vm" "vm{number}" {{
  node_name     = "{host}"
  vm_id         = {vmid}
  name          = "vm-{number}"
  machine       = "q35"
  bios          = "ovmf"
  scsi_hardware = "virtio-scsi-pci"
  boot_order    = ["scsi0"]
  agent {{ enabled = {agent} }}
  cpu {{
    cores = 2
    type  = "host"
  }}
  memory {{ dedicated = 2048 }}
  efi_disk {{
    datastore_id = "local-lvm"
    type         = "4m"
  }}
  disk {{
    interface    = "scsi0"
    datastore_id = "local-lvm"
    import_from  = "{image}"
    size         = 20
    discard      = "on"
    ssd          = true
  }}
  network_device {{
    bridge      = "vmbr1"
    mac_address = "{mac}"
  }}
  initialization {{
    datastore_id = "local-lvm"
    ip_config {{
      ipv4 {{
        address = "{address}/16"
        gateway = "{gateway}"
      }}
    }}
  }}
  operating_system {{ type = "l26" }}
  serial_device {{}}
}}
"""
_PROVIDER = """\
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox" }
  }
}
provider "proxmox" {}
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a program took."""

    wall: float
    cpu: float
    mib: float
    """Memory at the most."""


@dataclass(slots=True)
class Side:
    """One of the two, in a directory of its own."""

    folder: Path
    program: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, status: int = 0) -> Taken:
        """Run the program with these words, to its end."""
        with (self.folder / "output.log").open("w") as log:
            began = time.perf_counter()
            process = subprocess.Popen(
                [*self.program, *words],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
            _, ended, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(ended)
        if process.returncode != status:
            said = (self.folder / "output.log").read_text()
            raise RuntimeError(f"{words} ended with {process.returncode}: {said[-3000:]}")
        return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def stockman(folder: Path, lab: VmLab, count: int, *, agent: bool = False) -> Side:
    """stockman with so many guests in its files."""
    folder.mkdir(parents=True)
    cluster = _CLUSTER.format(endpoint=lab.endpoint, token=lab.token_id, ca="ca.pem")
    (folder / "ca.pem").write_bytes(lab.ca.read_bytes())
    (folder / "cluster.yaml").write_text(cluster)
    guests = "".join(_GUEST.format(**_facts(number, agent)) for number in range(count))
    (folder / "nodes.yaml").write_text(f"guests:\n{guests}")
    environment = {**_environment(), "PROXMOX_TOKEN_SECRET": lab.token_secret}
    return Side(folder, [sys.executable, "-m", "stockman"], environment)


def stockman_nodes(folder: Path, lab: VmLab, count: int) -> Side:
    """stockman with a cluster of so many Talos nodes in its files."""
    side = Side(folder.parent, [sys.executable, "-m", "stockman"], _environment())
    network = ("--preset", "fifteen-node", "--network", str(NETWORK))
    side.run("init", folder.name, *network, "--yes")
    cluster = _CLUSTER.format(endpoint=lab.endpoint, token=lab.token_id, ca="ca.pem")
    (folder / "ca.pem").write_bytes(lab.ca.read_bytes())
    (folder / "cluster.yaml").write_text(cluster + _TALOS.format(net=_NET, factory=lab.factory))
    nodes = "".join(
        _NODE.format(controller=str(number < _CONTROLLERS).lower(), **_facts(number, True))
        for number in range(count)
    )
    (folder / "nodes.yaml").write_text(f"nodes:\n{nodes}")
    environment = {**_environment(), "PROXMOX_TOKEN_SECRET": lab.token_secret}
    return Side(folder, side.program, environment)


def opentofu(folder: Path, lab: VmLab, count: int, *, agent: bool = False) -> Side:
    """OpenTofu with so many machines in its files; with an agent it waits until that answers."""
    from tools.provide import Provider

    folder.mkdir(parents=True)
    provider = Provider().path("terraform-provider-proxmox").parent
    override = f'dev_overrides {{ "bpg/proxmox" = {json.dumps(str(provider))} }}'
    settings = folder / "cli.tfrc"
    settings.write_text(f"provider_installation {{\n  {override}\n  direct {{}}\n}}\n")
    machines = "".join(_VM.format(**_facts(number, agent)) for number in range(count))
    (folder / "main.tf").write_text(_PROVIDER + machines)
    environment = {
        **_environment(),
        "HOME": str(folder),
        "TF_CLI_CONFIG_FILE": str(settings),
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
        "SSL_CERT_FILE": str(lab.ca),
        "PROXMOX_VE_ENDPOINT": lab.endpoint,
        "PROXMOX_VE_API_TOKEN": f"{lab.token_id}={lab.token_secret}",
    }
    return Side(folder, [str(Provider().path("tofu"))], environment)


def _facts(number: int, agent: bool) -> dict[str, object]:  # a fact like others
    return {
        "agent": str(agent).lower(),
        "number": number,
        "vmid": FIRST + number,
        "host": HOSTS[number % len(HOSTS)],
        "address": NETWORK.network_address + 256 + number,
        "gateway": _GATEWAY,
        "mac": f"BC:24:11:00:{number >> 8:02X}:{number & 255:02X}",
        "image": IMAGE,
    }


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {"LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path), **kept}
