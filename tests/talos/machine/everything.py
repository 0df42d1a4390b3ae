"""An estate in which everything is switched on that a contract can express."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from stockman.model.desired import Desired
from stockman.model.secret import Secret
from tests.talos.machine.clusters import KUBERNETES, TALOS, bundle, loaded

FILES = {"talos/hello.yaml": "kind: Namespace\napiVersion: v1\nmetadata: {name: hello}\n"}
"""Files that are named, besides those with certificates."""

CLUSTER = """\
cluster_name: meadow
node_cidr: 127.66.0.0/24
node_vlan_tag: 66
cluster_api_addr: 127.66.0.10
cluster_api_tls_sans: [api.example.com]
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_enabled: false
repository_name: owner/meadow
talos_version: {talos}
talos_contract: "{line}"
kubernetes_version: {kubernetes}
proxmox_endpoint: https://127.66.0.4:8006
kubernetes:
  coredns_addr: 10.43.0.53
  extra_args:
    api_server: {{enable-aggregator-routing: "true"}}
    controller_manager: {{bind-address: 0.0.0.0}}
    scheduler: {{bind-address: 0.0.0.0}}
    etcd: {{listen-metrics-urls: "http://0.0.0.0:2381"}}
  extra_manifests: {{gateway-api: "https://127.66.0.5/gateway.yaml"}}
  inline_manifests:
    hello: {{file: talos/hello.yaml}}
    there: {{contents: "{{apiVersion: v1, kind: Namespace, metadata: {{name: there}}}}"}}
upgrade: {{engine: tuppr}}
components:
  talos-ccm: {{enabled: true}}
  tuppr: {{enabled: true}}
talos:
  extensions: [siderolabs/qemu-guest-agent]
  discovery: true
  kubespan: true
  host_dns: {{resolve_member_names: true}}
  kube_prism: {{port: 7446}}
  registries:
    docker.io:
      endpoints: ['https://127.66.0.5/v2/hub']
      override_path: true
      skip_fallback: true
      username: u
      password: grazing
      ca_file: talos/ca.pem
      client_cert_file: talos/client.pem
      client_key: ${{MIRROR_KEY}}
    ghcr.io: {{insecure_skip_verify: true}}
  firewall:
    enabled: true
    management: [127.99.0.0/24]
    rules:
      node-exporter: {{ports: [9100, 9200-9210], from: [10.42.0.0/16]}}
      etcd-metrics: {{ports: [2381], nodes: controllers}}
  sysctls: {{vm.nr_hugepages: "1024", net.core.rmem_max: "7500000"}}
  sysfs: {{devices.system.cpu.cpu0.cpufreq.scaling_governor: performance}}
  udev_rules: ['SUBSYSTEM=="drm", KERNEL=="renderD*", GROUP="44"']
  environment: {{https_proxy: "http://127.66.0.7:3128"}}
  host_entries: {{127.66.0.8: [nas.example.com, nas]}}
  kubelet:
    extra_args: {{node-status-update-frequency: 5s}}
    extra_config: {{maxPods: 200, serializeImagePulls: false}}
    node_ip_subnets: [127.66.0.0/24, "!127.66.0.10/32"]
  ephemeral: {{min_size: 20GiB, max_size: 100GiB}}
  watchdog: {{timeout: 90s}}
  kernel_logs: {{collector: "udp://127.66.0.9:514"}}
  trusted_roots: {{company: talos/ca.pem}}
"""
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    mac_addr: bc:24:11:00:00:21
    disk_selector: {{size: ">= 100GB", type: ssd, model: "QEMU*"}}
    bond:
      mode: 802.3ad
      members: [bc:24:11:00:01:21]
      hash_policy: layer3+4
      lacp_rate: fast
      ad_select: bandwidth
      min_links: 1
      up_delay: 200
      down_delay: 200
    routes: [{{network: 127.99.0.0/16, gateway: 127.66.0.2, metric: 300}}]
    vlans: [{{id: 70}}, {{id: 71, addresses: [127.71.0.21/24], mtu: 1400}}]
    vm:
      vmid: 1021
      host: pve-a
      nics: [{{bridge: vmbr0}}, {{bridge: vmbr0, mac_addr: bc:24:11:00:01:21}}]
  - name: work-1
    address: 127.66.0.31
    controller: false
    mac_addr: bc:24:11:00:00:31
    disk: SERIAL-1
    mtu: 9000
    encrypt_disk: true
    kernel_modules: [nbd]
    labels: {{example.com/rack: a}}
    taints: {{example.com/slow: NoSchedule}}
    annotations: {{example.com/note: x}}
    bond: {{}}
    links:
      - {{name: eth1, mtu: 1400}}
      - name: storage
        mac_addr: bc:24:11:00:01:31
        addresses: [127.80.0.31/24]
        routes: [{{network: 127.81.0.0/16, gateway: 127.80.0.1}}]
        vlans: [{{id: 82, dhcp: true}}]
    vm:
      vmid: 1031
      host: pve-b
      tpm: {{}}
      data_disks: [{{name: media, size_gb: 100}}]
      nics:
        - {{bridge: vmbr0}}
        - {{bridge: vmbr0}}
        - {{bridge: vmbr0, mac_addr: bc:24:11:00:01:31}}
    talos:
      extensions:
        - siderolabs/nvidia-open-gpu-kernel-modules-production
        - siderolabs/nvidia-container-toolkit-production
      nvidia: {{default_runtime: true}}
      sysctls: {{vm.nr_hugepages: "2048"}}
      volumes:
        - {{name: media, disk: media, max_size: {share}, encryption: tpm}}
        - {{name: scratch, kind: raw, min_size: 10GiB, disk_match: "disk.transport == 'nvme'"}}
        - {{name: swap, kind: swap, max_size: 4GiB, encryption: node-id}}
{mounts}"""
MOUNTS = """\
      kubelet: {extra_mounts: [{source: /var/lib/longhorn}]}
"""


def everything(line: str) -> Desired:
    """The estate in the style of one Talos line, with its secrets resolved."""
    cluster = CLUSTER.format(talos=TALOS[line], line=line, kubernetes=KUBERNETES[line])
    share = "50GiB" if line == "1.11" else "80%"
    nodes = NODES.format(share=share, mounts="" if line == "1.14" else MOUNTS)
    state = loaded(cluster, nodes)
    assert state.cluster is not None
    talos = state.cluster.talos
    mirror = replace(talos.registries["docker.io"], client_key=Secret(key()))
    talos = replace(talos, registries={**talos.registries, "docker.io": mirror})
    return replace(state, cluster=replace(state.cluster, talos=talos))


def certificate() -> str:
    """A certificate for the mirror and for the machines that show one to it."""
    return bundle().certs.etcd.crt


@cache
def key() -> str:
    """Its key in PKCS#8: the only form that Talos 1.12 and 1.13 take here."""
    pem_private_key = load_pem_private_key(bundle().certs.etcd.key.reveal().encode(), None)
    return pem_private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def files() -> dict[str, str]:
    """Every file that the estate names."""
    return {**FILES, "talos/ca.pem": certificate(), "talos/client.pem": certificate()}
