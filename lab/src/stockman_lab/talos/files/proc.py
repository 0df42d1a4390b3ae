"""Files under `/proc`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.builds import build_of
from stockman_lab.talos.figures.processes import Process, processes
from stockman_lab.talos.files import proc_texts

if TYPE_CHECKING:
    from stockman_lab.talos.files.tree import Tree
    from stockman_lab.talos.machine import Machine

_MODULES = (
    "virtio_net 106496 0 - Live 0x0000000000000000\n"
    "net_failover 24576 1 virtio_net, Live 0x0000000000000000\n"
    "failover 12288 1 net_failover, Live 0x0000000000000000\n"
    "virtio_balloon 28672 0 - Live 0x0000000000000000\n"
    "virtio_rng 12288 0 - Live 0x0000000000000000\n"
    "i2c_piix4 32768 0 - Live 0x0000000000000000\n"
)
_SYSCTLS = {
    "kernel.ostype": "Linux",
    "kernel.pid_max": "262144",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "kernel.kptr_restrict": "2",
    "kernel.dmesg_restrict": "1",
    "kernel.kexec_load_disabled": "1",
    "kernel.perf_event_paranoid": "3",
    "kernel.randomize_va_space": "2",
    "kernel.unprivileged_bpf_disabled": "1",
    "kernel.yama.ptrace_scope": "1",
    "net.core.bpf_jit_harden": "1",
    "net.core.somaxconn": "65535",
    "net.ipv4.ip_forward": "1",
    "net.ipv4.icmp_ignore_bogus_error_responses": "1",
    "net.ipv4.icmp_echo_ignore_broadcasts": "1",
    "net.ipv4.tcp_keepalive_time": "600",
    "net.ipv4.tcp_keepalive_intvl": "60",
    "net.ipv6.conf.default.forwarding": "1",
    "user.max_user_namespaces": "0",
    "vm.overcommit_memory": "1",
    "vm.max_map_count": "262144",
    "vm.panic_on_oom": "0",
}
"""What Talos sets; a configuration may set more, and others."""


def add_proc(tree: Tree, machine: Machine) -> None:
    """Files of the kernel: they have no size until they are read."""
    state = machine.state
    texts: dict[str, Callable[[], str]] = {
        "cmdline": lambda: " ".join(state.cmdline) + "\n",
        "version": lambda: proc_texts.version_text(machine),
        "uptime": lambda: proc_texts.uptime_text(machine),
        "loadavg": lambda: proc_texts.load_text(machine),
        "meminfo": lambda: proc_texts.memory_text(machine),
        "cpuinfo": lambda: proc_texts.processors_text(machine),
        "mounts": lambda: proc_texts.mounts_text(machine),
        "modules": lambda: _MODULES,
        "stat": lambda: proc_texts.stat_text(machine),
        "swaps": lambda: "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
        "partitions": lambda: proc_texts.partitions_text(machine),
        "diskstats": lambda: proc_texts.disks_text(machine),
        "filesystems": lambda: "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\n\txfs\n\tvfat\n",
        "net/dev": lambda: proc_texts.links_text(machine),
        "sys/kernel/random/boot_id": lambda: f"{state.boot_id}\n",
        "sys/kernel/hostname": lambda: f"{machine.hostname or 'talos'}\n",
        "sys/kernel/osrelease": lambda: f"{build_of(machine).kernel}\n",
    }
    for name, text in texts.items():
        tree.file(f"/proc/{name}", partial(_encoded, text), 0o444, size=0)
    config = machine.config
    sysctls = _SYSCTLS | (config.sysctls if config is not None else {})
    for name, value in sysctls.items():
        tree.file(f"/proc/sys/{name.replace('.', '/')}", f"{value}\n", size=0)
    tree.link("/proc/self", "1")
    for process in processes(machine):
        _add_process(tree, process, machine.now)


def _encoded(text: Callable[[], str]) -> bytes:
    return text().encode()


def _add_process(tree: Tree, process: Process, now: float) -> None:
    folder = f"/proc/{process.pid}"
    ticks = int(process.cpu_seconds(now) * 100)
    pages = process.memory // 4096
    told = (
        f"{process.pid} ({process.command}) S {process.parent} 0 0 0 -1 4194560 0 0 0 0 "
        f"{ticks * 2 // 3} {ticks // 3} 0 0 20 0 {process.threads} 0 0 {process.reserved} {pages}\n"
    )
    tree.file(f"{folder}/cmdline", process.args.replace(" ", "\0") + "\0", 0o444, size=0)
    tree.file(f"{folder}/comm", f"{process.command}\n", size=0)
    tree.file(f"{folder}/stat", told, 0o444, size=0)
    tree.file(f"{folder}/cgroup", f"0::/{process.cgroup}\n", 0o444, size=0)
    tree.file(f"{folder}/attr/current", process.label + "\0", 0o666, size=0)
    tree.link(f"{folder}/exe", process.executable)
