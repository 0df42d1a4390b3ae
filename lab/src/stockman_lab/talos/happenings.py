"""Everything that is planned for machines, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman_lab.talos import acting, booting, etcd_member, kubernetes
from stockman_lab.talos.sequences import doing
from stockman_lab.talos.sequences import running as sequences
from stockman_lab.talos.services import running as services

if TYPE_CHECKING:
    from stockman_lab.core.timeline import Arguments
    from stockman_lab.talos.machine import Machine

_TARGETS: dict[str, Callable[[Machine, Arguments], None]] = {
    booting.KERNEL_UP: booting.kernel_up,
    booting.NETWORK_UP: booting.network_up,
    booting.TIME_SYNCED: booting.time_synced,
    services.STARTED: services.started,
    sequences.PHASE_OVER: sequences.phase_over,
    sequences.AFTER_FAILURE: sequences.after_failure,
    etcd_member.HEALTHY: etcd_member.healthy,
    etcd_member.PROMOTE: etcd_member.promote,
    etcd_member.JOIN: etcd_member.join_again,
    kubernetes.STATIC_PODS: kubernetes.static_pods_ready,
    kubernetes.KUBELET_HEALTHY: kubernetes.kubelet_healthy,
    kubernetes.GIVEN_UP: kubernetes.given_up,
    acting.TRIAL_OVER: acting.trial_over,
    services.ETCD_STARTED: etcd_member.started,
    doing.KEXEC: booting.kexec,
}


def happen(machine: Machine, name: str, arguments: Arguments) -> None:
    """Let one of them happen."""
    _TARGETS[name](machine, arguments)
