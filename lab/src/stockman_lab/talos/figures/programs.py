"""Programs that services run as: how large they are, how busy, where they belong."""

from __future__ import annotations

from dataclasses import dataclass

CRI_SOCKET = "/run/containerd/containerd.sock"
SYSTEM_SOCKET = "/system/run/containerd/containerd.sock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is known of a program wherever it runs."""

    executable: str
    args: str
    threads: int
    memory: int
    """MiB."""
    cores: float
    """How much of the processor it takes all the time."""
    label: str
    cgroup: str
    """Its place under `/sys/fs/cgroup`."""
    shim: str = ""
    """The socket of the containerd that runs it. Empty: it is no container."""


PROGRAMS = {
    "machined": Program(
        executable="/usr/bin/init",
        args="/sbin/init",
        threads=17,
        memory=118,
        cores=0.012,
        label="init_t",
        cgroup="init",
    ),
    "udevd": Program(
        executable="/usr/bin/systemd-udevd",
        args="/sbin/systemd-udevd --resolve-names=never",
        threads=1,
        memory=9,
        cores=0.0002,
        label="udev_t",
        cgroup="system/udevd",
    ),
    "dashboard": Program(
        executable="/usr/bin/init",
        args="/sbin/dashboard",
        threads=11,
        memory=74,
        cores=0.004,
        label="dashboard_t",
        cgroup="system/dashboard",
    ),
    "containerd": Program(
        executable="/usr/bin/containerd",
        args=f"/bin/containerd --address {SYSTEM_SOCKET} --state /system/run/containerd "
        "--root /system/var/lib/containerd",
        threads=10,
        memory=43,
        cores=0.002,
        label="sys_containerd_t",
        cgroup="system/runtime",
    ),
    "cri": Program(
        executable="/usr/bin/containerd",
        args=f"/bin/containerd --address {CRI_SOCKET} --config /etc/cri/containerd.toml",
        threads=14,
        memory=71,
        cores=0.009,
        label="pod_containerd_t",
        cgroup="podruntime/runtime",
    ),
    "apid": Program(
        executable="/usr/bin/init",
        args="/apid",
        threads=9,
        memory=58,
        cores=0.003,
        label="apid_t",
        cgroup="system/apid",
        shim=SYSTEM_SOCKET,
    ),
    "trustd": Program(
        executable="/usr/bin/init",
        args="/trustd",
        threads=9,
        memory=52,
        cores=0.0005,
        label="trustd_t",
        cgroup="system/trustd",
        shim=SYSTEM_SOCKET,
    ),
    "etcd": Program(
        executable="/usr/local/bin/etcd",
        args="/usr/local/bin/etcd --auto-tls=false --data-dir=/var/lib/etcd",
        threads=13,
        memory=92,
        cores=0.03,
        label="etcd_t",
        cgroup="podruntime/etcd",
        shim=CRI_SOCKET,
    ),
    "kubelet": Program(
        executable="/usr/local/bin/kubelet",
        args="/usr/local/bin/kubelet --bootstrap-kubeconfig="
        "/etc/kubernetes/bootstrap-kubeconfig --config=/etc/kubernetes/kubelet.yaml",
        threads=15,
        memory=97,
        cores=0.018,
        label="kubelet_t",
        cgroup="podruntime/kubelet",
        shim=CRI_SOCKET,
    ),
}
"""Services that are processes; auditd and syslogd are parts of machined."""
EXTENSION = Program(
    executable="/usr/bin/{}",
    args="/usr/bin/{}",
    threads=2,
    memory=8,
    cores=0.0005,
    label="sys_containerd_t",
    cgroup="system/{}",
    shim=SYSTEM_SOCKET,
)
