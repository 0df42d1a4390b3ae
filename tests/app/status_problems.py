"""Problems that status tells of, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from stockman.app.status.observation import BackupContext
from stockman.app.status.smoke_tests import no_smoke_test
from stockman.assessment.status import problems as say
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
    "health.no-smoke-test": lambda: no_smoke_test("spegel", ["cilium", "coredns"]),
    "status.proxmox-silent": lambda: say.proxmox_silent(
        "pve", "no connection to https://pve.example.com:8006", "give the right address"
    ),
    "status.proxmox-quorum": lambda: say.no_quorum("pve", 1, 3),
    "status.host-offline": lambda: say.host_offline("pve", "pve1", 4),
    "status.host-unknown": lambda: say.host_unknown("pve", "pve9", "pve1, pve2, pve3"),
    "status.storage-full": lambda: say.storage_full("tank", "pve1", 490 * GIB, 500 * GIB),
    "status.storage-gone": lambda: say.storage_gone("tank", "pve1"),
    "status.memory-full": lambda: as_warning(say.memory_full("pve1", 124 * GIB, 128 * GIB)),
    "status.vm-missing": lambda: say.vm_missing("cp-1", 1030, "pve"),
    "status.guest-missing": lambda: say.guest_missing("nas", 116, "pve"),
    "status.guest-stopped": lambda: as_warning(say.guest_stopped("nas", 116, "pve1", "stopped")),
    "status.vm-halted": lambda: say.vm_halted("cp-1", 1030, "pve1", "io-error"),
    "status.vm-stopped": lambda: say.vm_stopped("cp-1", 1030, "pve1", "stopped"),
    "status.vm-locked": lambda: as_warning(say.vm_locked("cp-1", 1030, "pve1", "backup")),
    "status.vm-twice": lambda: say.vm_twice("cp-1", 1040, 1030, "pve2"),
    "status.vm-elsewhere": lambda: as_warning(say.vm_elsewhere("cp-1", 1030, "pve2", "pve1")),
    "status.vm-identity": lambda: say.vm_identity("cp-1", 1030, "pve1", "billing", UUID_OF_ANOTHER),
    "status.machine-silent": lambda: say.machine_silent("cp-1", "10.42.0.11", "no route to host"),
    "status.machine-maintenance": lambda: say.in_maintenance("cp-1", "10.42.0.11"),
    "status.machine-booting": lambda: say.machine_booting("cp-1", "10.42.0.11", ""),
    "status.machine-foreign": lambda: say.foreign_machine("cp-1", "10.42.0.11", ""),
    "status.machine-identity": lambda: say.wrong_uuid(
        "cp-1", "10.42.0.11", str(UUID_OF_ANOTHER), OWN_UUID
    ),
    "status.machine-card": lambda: as_warning(
        say.wrong_card("cp-1", "10.42.0.11", "bc:24:11:00:00:02", "bc:24:11:00:00:01")
    ),
    "status.machine-not-ready": lambda: say.machine_not_ready(
        "cp-1", "10.42.0.11", "booting", "services: etcd is not healthy"
    ),
    "status.clock": lambda: say.clock_skew("cp-1", 42.0, 5.0, "time.example.com"),
    "status.version": lambda: as_warning(say.wrong_version("cp-1", "Talos", "v1.13.8", "v1.13.9")),
    "status.etcd-silent": lambda: say.etcd_silent("cp-1: no answer; cp-2: no answer"),
    "status.etcd-quorum": lambda: say.etcd_quorum(1, 3, 2),
    "status.etcd-missing": lambda: say.etcd_missing("cp-3"),
    "status.etcd-unhealthy": lambda: say.etcd_unhealthy(
        "cp-3", "10.42.0.13", "it follows no leader"
    ),
    "status.etcd-learner": lambda: as_warning(say.etcd_learner("cp-3", "10.42.0.13", 4711)),
    "status.etcd-stranger": lambda: as_warning(say.etcd_stranger("5f2c1a0000000001", "cp-9")),
    "status.etcd-alarm": lambda: say.etcd_alarm("cp-1", "10.42.0.11", "NOSPACE"),
    "status.etcd-large": lambda: as_warning(
        say.etcd_large("cp-1", "10.42.0.11", 1800 << 20, 2 << 30)
    ),
    "status.api-silent": lambda: say.api_silent("10.42.0.10", "nobody takes the connection"),
    "status.node-missing": lambda: say.node_missing("work-1", "10.42.0.21"),
    "status.node-not-ready": lambda: say.node_not_ready(
        "work-1", "Kubelet stopped posting node status."
    ),
    "status.node-cordoned": lambda: as_warning(say.cordon("work-1")),
    "status.node-pressure": lambda: say.node_pressure("work-1", "DiskPressure"),
    "status.uninitialized": lambda: say.awaits_cloud_controller(
        "work-1", " since 12 minutes", "proxmox-cloud-controller-manager"
    ),
    "status.no-cloud-controller": lambda: say.nobody_initializes("work-1"),
    "status.topology": lambda: say.wrong_topology("work-1", "zone", "pve2", "pve1"),
    "status.provider-id": lambda: say.wrong_provider_id(
        "work-1", "10.42.0.21", "talos://work-1", "proxmox://pve/1040"
    ),
    "status.cloud-controllers": lambda: say.two_controllers(
        "nodes have identities of different kinds: proxmox:// on work-1, talos:// on work-2"
    ),
    "status.flux-missing": say.flux_missing,
    "status.flux-not-ready": lambda: say.flux_not_ready(
        "Kustomization", "flux-system/cluster-apps", "path not found: ./kubernetes/apps"
    ),
    "status.flux-suspended": lambda: as_warning(
        say.flux_suspension("HelmRelease", "kube-system/cilium")
    ),
    "status.repository-behind": lambda: say.flux_behind(
        "main@3f2a1b0c9d8e", "77aa66bb55cc44dd33ee22ff11aa00bb99cc88dd", "main"
    ),
    "status.not-committed": lambda: as_warning(
        say.files_to_commit(("cluster.yaml", "kubernetes/apps/default/echo/app/helmrelease.yaml"))
    ),
    "status.not-pushed": lambda: as_warning(
        say.commit_to_push(
            "77aa66bb55cc44dd33ee22ff11aa00bb99cc88dd", "3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a"
        )
    ),
    "status.component": lambda: say.component_not_ready(
        "cilium", "cilium is ready on every node", "2 of 3 ready"
    ),
    "status.backup-credentials": _no_credentials,
    "status.backup-none": lambda: say.no_backup("s3", "s3://etcd-backups", "0 */6 * * *"),
    "status.backup-old": lambda: say.old_backup("s3", "s3://etcd-backups", "3 days", "6 hours"),
    "status.run-unfinished": lambda: say.open_run(
        RUN, "open: it was killed", "12 of 31", "node work-3 is cordoned"
    ),
    "status.lease-held": lambda: as_warning(say.lease_held(f"{RUN}-9d2e")),
    "status.lock-held": lambda: as_warning(
        say.lock_held(f"anna@workbench, process 4711, run {RUN}")
    ),
}
