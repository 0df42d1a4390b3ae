"""Files under `/var`: data of etcd and of Kubernetes, and logs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.mounts import mounts
from stockman_lab.talos.figures.pods import pods
from stockman_lab.talos.files.etcd_data import etcd_database, etcd_database_size
from stockman_lab.talos.logs.pods import audit_log, pod_log
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.files.tree import Tree
    from stockman_lab.talos.machine import Machine

_FOLDERS = (
    "/var/lib/cni",
    "/var/lib/containerd",
    "/var/lib/kubelet/seccomp",
    "/var/lib/kubelet/pods",
    "/var/log/audit/kube",
    "/var/log/containers",
    "/var/log/pods",
    "/var/mnt",
)
_WAL = 64_000_000


def add_var(tree: Tree, machine: Machine) -> None:
    """What is on EPHEMERAL; nothing where that is not mounted."""
    tree.directory("/var")
    tree.link("/var/run", "/run")
    if not any(mount.target == "/var" for mount in mounts(machine)):
        return
    for folder in _FOLDERS:
        tree.directory(folder)
    disk = machine.disk
    if disk is not None and disk.has_joined:
        tree.file("/var/lib/kubelet/pki/kubelet-client-current.pem", b"", 0o600)
    if disk is not None and disk.etcd:
        tree.directory("/var/lib/etcd", 0o700)
        size = etcd_database_size(machine)
        tree.file("/var/lib/etcd/member/snap/db", partial(etcd_database, machine), 0o600, size)
        tree.file("/var/lib/etcd/member/wal/0.tmp", partial(bytes, _WAL), 0o600, size=_WAL)
    for pod in pods(machine):
        tree.file(pod.log_path, partial(pod_log, machine, pod), 0o640)
        short = f"{pod.name}_{pod.namespace}_{pod.container}-{pod.container_id}.log"
        tree.link(f"/var/log/containers/{short}", pod.log_path)
    if has_static_pods(machine):
        tree.file("/var/log/audit/kube/kube-apiserver.log", partial(audit_log, machine), 0o600)
