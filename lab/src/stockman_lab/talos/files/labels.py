"""Labels that SELinux puts on files."""

from __future__ import annotations

_TYPES = (
    ("/proc/", "proc_t"),
    ("/sys/fs/cgroup", "cgroup_t"),
    ("/sys/", "sysfs_t"),
    ("/dev/", "device_t"),
    ("/var/lib/etcd", "etcd_data_t"),
    ("/var/lib/kubelet", "kubelet_state_t"),
    ("/var/log", "var_log_t"),
    ("/var/", "ephemeral_t"),
    ("/run/", "run_t"),
    ("/system/state", "system_state_t"),
    ("/system/", "system_t"),
    ("/etc/cri", "cri_conf_t"),
    ("/etc/kubernetes", "k8s_conf_t"),
    ("/etc/cni", "cni_conf_t"),
    ("/etc/", "etc_t"),
    ("/usr/bin/containerd", "containerd_exec_t"),
    ("/usr/bin/init", "init_exec_t"),
    ("/usr/bin/", "bin_exec_t"),
    ("/usr/lib/", "lib_t"),
)
_REST = "rootfs_t"


def label_of(path: str) -> str:
    """The label of a file by where it is."""
    kind = next((kind for top, kind in _TYPES if f"{path}/".startswith(top)), _REST)
    return f"system_u:object_r:{kind}:s0"
