"""Problems that status tells of, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from stockman.app.status.backups import BackupContext
from stockman.assessment.status import cluster_problems as cluster
from stockman.assessment.status import machine_problems as machine
from stockman.assessment.status import operations_problems as care
from stockman.assessment.status import proxmox_problems as place
from stockman.assessment.status.findings import as_warning, unknown_finding
from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from tests.engine.simulated import JumpClock

GIB = 1 << 30
UUID_OF_ANOTHER = UUID("5f0a9c1e-0000-4000-8000-00000000002a")
OWN_UUID = "9f8d654c-0000-4000-8000-000000000001"
RUN = "20260301t060000z-5f2c1a"


def _no_credentials() -> Problem:
    backup_context = BackupContext(directory=Path(), environment={}, clock=JumpClock())
    with pytest.raises(NotFound) as caught:
        backup_context.credential(None, "AWS_ACCESS_KEY_ID")
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "status.unknown": lambda: (
        unknown_finding(
            "the etcd of cp-2",
            "it answers, and tells no status",
            "look again with `stockman status`",
        ).problem
    ),
    "status.proxmox-silent": lambda: place.proxmox_silent(
        "pve", "no connection to https://pve.example.com:8006", "give the right address"
    ),
    "status.proxmox-quorum": lambda: place.no_quorum("pve", 1, 3),
    "status.host-offline": lambda: place.host_offline("pve", "pve1", 4),
    "status.host-unknown": lambda: place.host_unknown("pve", "pve9", "pve1, pve2, pve3"),
    "status.storage-full": lambda: place.storage_full("tank", "pve1", 490 * GIB, 500 * GIB),
    "status.storage-gone": lambda: place.storage_gone("tank", "pve1"),
    "status.memory-full": lambda: as_warning(place.memory_full("pve1", 124 * GIB, 128 * GIB)),
    "status.vm-missing": lambda: place.vm_missing("cp-1", 1030, "pve"),
    "status.guest-missing": lambda: place.guest_missing("nas", 116, "pve"),
    "status.guest-stopped": lambda: as_warning(place.guest_stopped("nas", 116, "pve1", "stopped")),
    "status.vm-stopped": lambda: place.vm_stopped("cp-1", 1030, "pve1", "stopped"),
    "status.vm-locked": lambda: as_warning(place.vm_locked("cp-1", 1030, "pve1", "backup")),
    "status.vm-twice": lambda: place.vm_twice("cp-1", 1040, 1030, "pve2"),
    "status.vm-elsewhere": lambda: as_warning(place.vm_elsewhere("cp-1", 1030, "pve2", "pve1")),
    "status.vm-identity": lambda: place.vm_identity(
        "cp-1", 1030, "pve1", "billing", UUID_OF_ANOTHER
    ),
    "status.machine-silent": lambda: machine.machine_silent(
        "cp-1", "10.42.0.11", "no route to host"
    ),
    "status.machine-maintenance": lambda: machine.in_maintenance("cp-1", "10.42.0.11"),
    "status.machine-booting": lambda: machine.machine_booting("cp-1", "10.42.0.11", ""),
    "status.machine-foreign": lambda: machine.foreign_machine("cp-1", "10.42.0.11", ""),
    "status.machine-identity": lambda: machine.wrong_uuid(
        "cp-1", "10.42.0.11", str(UUID_OF_ANOTHER), OWN_UUID
    ),
    "status.machine-card": lambda: as_warning(
        machine.wrong_card("cp-1", "10.42.0.11", "bc:24:11:00:00:02", "bc:24:11:00:00:01")
    ),
    "status.machine-not-ready": lambda: machine.machine_not_ready(
        "cp-1", "10.42.0.11", "booting", "services: etcd is not healthy"
    ),
    "status.clock": lambda: machine.clock_skew("cp-1", 42.0, 5.0, "time.example.com"),
    "status.version": lambda: as_warning(
        machine.wrong_version("cp-1", "Talos", "v1.13.8", "v1.13.9")
    ),
    "status.etcd-silent": lambda: machine.etcd_silent("cp-1: no answer; cp-2: no answer"),
    "status.etcd-quorum": lambda: machine.etcd_quorum(1, 3, 2),
    "status.etcd-missing": lambda: machine.etcd_missing("cp-3"),
    "status.etcd-unhealthy": lambda: machine.etcd_unhealthy(
        "cp-3", "10.42.0.13", "it follows no leader"
    ),
    "status.etcd-learner": lambda: as_warning(machine.etcd_learner("cp-3", "10.42.0.13", 4711)),
    "status.etcd-stranger": lambda: as_warning(machine.etcd_stranger("5f2c1a0000000001", "cp-9")),
    "status.etcd-alarm": lambda: machine.etcd_alarm("cp-1", "10.42.0.11", "NOSPACE"),
    "status.etcd-large": lambda: as_warning(
        machine.etcd_large("cp-1", "10.42.0.11", 1800 << 20, 2 << 30)
    ),
    "status.api-silent": lambda: cluster.api_silent("10.42.0.10", "nobody takes the connection"),
    "status.node-missing": lambda: cluster.node_missing("work-1", "10.42.0.21"),
    "status.node-not-ready": lambda: cluster.node_not_ready(
        "work-1", "Kubelet stopped posting node status."
    ),
    "status.node-cordoned": lambda: as_warning(cluster.cordon("work-1")),
    "status.node-pressure": lambda: cluster.node_pressure("work-1", "DiskPressure"),
    "status.uninitialized": lambda: cluster.awaits_cloud_controller(
        "work-1", " since 12 minutes", "proxmox-cloud-controller-manager"
    ),
    "status.no-cloud-controller": lambda: cluster.nobody_initializes("work-1"),
    "status.topology": lambda: cluster.wrong_topology("work-1", "zone", "pve2", "pve1"),
    "status.provider-id": lambda: cluster.wrong_provider_id(
        "work-1", "10.42.0.21", "talos://work-1", "proxmox://pve/1040"
    ),
    "status.cloud-controllers": lambda: cluster.two_controllers(
        "nodes have identities of different kinds: proxmox:// on work-1, talos:// on work-2"
    ),
    "status.flux-missing": cluster.flux_missing,
    "status.flux-not-ready": lambda: cluster.flux_not_ready(
        "Kustomization", "flux-system/cluster-apps", "path not found: ./kubernetes/apps"
    ),
    "status.flux-suspended": lambda: as_warning(
        cluster.flux_suspension("HelmRelease", "kube-system/cilium")
    ),
    "status.repository-behind": lambda: cluster.flux_behind(
        "main@3f2a1b0c9d8e", "77aa66bb55cc44dd33ee22ff11aa00bb99cc88dd", "main"
    ),
    "status.not-pushed": lambda: as_warning(
        cluster.commit_to_push(
            "77aa66bb55cc44dd33ee22ff11aa00bb99cc88dd", "3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a"
        )
    ),
    "status.component": lambda: cluster.component_not_ready(
        "cilium", "cilium is ready on every node", "2 of 3 ready"
    ),
    "status.backup-credentials": _no_credentials,
    "status.backup-none": lambda: care.no_backup("s3", "s3://etcd-backups", "0 */6 * * *"),
    "status.backup-old": lambda: care.old_backup("s3", "s3://etcd-backups", "3 days", "6 hours"),
    "status.run-unfinished": lambda: care.open_run(
        RUN, "open: it was killed", "12 of 31", "node work-3 is cordoned"
    ),
    "status.lease-held": lambda: as_warning(care.lease_held(f"{RUN}-9d2e")),
    "status.lock-held": lambda: as_warning(
        care.lock_held(f"anna@workbench, process 4711, run {RUN}")
    ),
}
