"""Files under `/etc`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.steady import digest

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective
    from stockman_lab.talos.files.tree import Tree
    from stockman_lab.talos.machine import Machine

_MOST_SERVERS = 3
_HOST_DNS = "127.0.0.53"
_OS_RELEASE = """NAME="Talos"
ID=talos
VERSION_ID={0}
PRETTY_NAME="Talos ({0})"
HOME_URL="https://www.talos.dev/"
BUG_REPORT_URL="https://github.com/siderolabs/talos/issues"
VENDOR_NAME="Sidero Labs"
VENDOR_URL="https://www.siderolabs.com/"
"""
_CRI = """version = 3

disabled_plugins = [
    "io.containerd.differ.v1.erofs",
    "io.containerd.internal.v1.tracing",
    "io.containerd.snapshotter.v1.blockfile",
    "io.containerd.snapshotter.v1.erofs",
    "io.containerd.ttrpc.v1.otelttrpc",
    "io.containerd.tracing.processor.v1.otlp",
]

imports = [
    "/etc/cri/conf.d/cri.toml",
]

[debug]
level = "info"
format = "json"
"""
_CNI = """{
  "name": "cbr0",
  "cniVersion": "1.0.0",
  "plugins": [
    {"type": "flannel", "delegate": {"hairpinMode": true, "isDefaultGateway": true}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
"""


def add_etc(tree: Tree, machine: Machine) -> None:
    """Files that Talos writes for programs."""
    config = machine.config
    tree.file("/etc/hostname", f"{machine.hostname}\n")
    tree.file("/etc/hosts", hosts_text(machine))
    tree.file("/etc/resolv.conf", resolv_text(machine))
    tree.file("/etc/os-release", _OS_RELEASE.format(machine.version))
    tree.file("/etc/machine-id", f"{machine_id(machine)}\n")
    tree.file("/etc/nfsmount.conf", "[ NFSMount_Global_Options ]\nlock = false\n")
    tree.file("/etc/localtime", b"TZif2" + bytes(39))
    tree.file("/etc/ssl/certs/ca-certificates", _authorities(config), 0o644)
    tree.link("/etc/ssl/certs/ca-certificates.crt", "ca-certificates")
    tree.file("/etc/containerd/config.toml", 'version = 3\n\n[debug]\nlevel = "info"\n')
    tree.file("/etc/cri/containerd.toml", _CRI)
    tree.file("/etc/cri/conf.d/00-base.part", "version = 3\n")
    tree.file("/etc/cri/conf.d/cri.toml", "version = 3\n", 0o600)
    tree.directory("/etc/cni/net.d")
    tree.directory("/etc/kubernetes/manifests")
    for written in config.files if config is not None else ():
        if written.path.startswith("/etc/cri/conf.d/"):
            tree.file(written.path, written.content, written.permissions)
    if config is not None and "kubelet" in machine.state.services:
        _add_kubernetes(tree, machine, config)


def machine_id(machine: Machine) -> str:
    """Thirty-two digits that belong to the node's identity, and so to its STATE."""
    disk = machine.disk
    identity = disk.node_identity if disk is not None else ""
    return hashlib.sha256((identity or digest(machine, "identity")).encode()).hexdigest()[:32]


def hosts_text(machine: Machine) -> str:
    """`/etc/hosts`, its columns under each other."""
    network = machine.state.network
    full = f"{network.hostname}.{network.domain}" if network.domain else network.hostname
    rows = [("127.0.0.1", "localhost")]
    if machine.address and network.hostname:
        names = full if full == network.hostname else f"{full} {network.hostname}"
        rows.append((machine.address, names))
    rows += [
        ("::1", "localhost ip6-localhost ip6-loopback"),
        ("ff02::1", "ip6-allnodes"),
        ("ff02::2", "ip6-allrouters"),
    ]
    config = machine.config
    static_hosts = config.static_hosts if config is not None else {}
    rows += [(address, " ".join(names)) for address, names in sorted(static_hosts.items())]
    width = max(len(address) for address, _ in rows) + 1
    return "".join(f"{address:<{width}}{names}\n" for address, names in rows)


def resolv_text(machine: Machine) -> str:
    """`/etc/resolv.conf`: the machine itself answers where it forwards."""
    network, config = machine.state.network, machine.config
    servers = network.resolvers[:_MOST_SERVERS]
    if config is not None and config.features.host_dns:
        servers = [_HOST_DNS]
    text = "".join(f"nameserver {server}\n" for server in servers)
    if network.search_domains:
        text += f"\nsearch {' '.join(network.search_domains)}\n"
    return text


def _authorities(config: Effective | None) -> str:
    return "".join(config.trusted_roots.values()) if config is not None else ""


def _add_kubernetes(tree: Tree, machine: Machine, config: Effective) -> None:
    folder = "/etc/kubernetes"
    tree.file(f"{folder}/kubelet.yaml", _kubelet_text(config), 0o600)
    tree.file(f"{folder}/pki/ca.crt", config.k8s_ca.crt, 0o400)
    disk = machine.disk
    name = "kubeconfig-kubelet" if disk is not None and disk.has_joined else "bootstrap-kubeconfig"
    tree.file(f"{folder}/{name}", _kubeconfig_text(config), 0o600)
    if config.kubernetes.cni == "flannel" and machine.state.kubernetes.node_ready:
        tree.file("/etc/cni/net.d/10-flannel.conflist", _CNI)


def _kubelet_text(config: Effective) -> str:
    dns = config.kubelet.cluster_dns or ("10.96.0.10",)
    lines = [
        "apiVersion: kubelet.config.k8s.io/v1beta1",
        "authentication:",
        "  anonymous:",
        "    enabled: false",
        "  x509:",
        "    clientCAFile: /etc/kubernetes/pki/ca.crt",
        "cgroupRoot: /",
        "clusterDNS:",
        *(f"- {one}" for one in dns),
        f"clusterDomain: {config.kubernetes.dns_domain}",
        "kind: KubeletConfiguration",
        "port: 10250",
        "rotateCertificates: true",
        "staticPodURL: http://127.0.0.1:33369/",
    ]
    return "\n".join(lines) + "\n"


def _kubeconfig_text(config: Effective) -> str:
    prism = config.features.kube_prism_port
    server = f"https://127.0.0.1:{prism}" if prism else config.endpoint
    lines = [
        "apiVersion: v1",
        "kind: Config",
        "clusters:",
        "- name: local",
        "  cluster:",
        f"    server: {server}",
        "    certificate-authority: /etc/kubernetes/pki/ca.crt",
        "users:",
        "- name: kubelet",
        "contexts:",
        "- context:",
        "    cluster: local",
        "    user: kubelet",
        "  name: local",
        "current-context: local",
    ]
    return "\n".join(lines) + "\n"
