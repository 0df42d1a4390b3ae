"""Functions that answer requests, one module for each family of them."""

from __future__ import annotations

FAMILIES: tuple[str, ...] = (
    "access",
    "backup_jobs",
    "cluster",
    "qemu",
    "qemu_agent",
    "qemu_clone",
    "qemu_config",
    "qemu_disks",
    "qemu_migrate",
    "qemu_more",
    "qemu_power",
    "qemu_snapshots",
    "replication",
    "storage_backups",
    "storage_config",
    "storage_content",
    "storage_disks",
    "storage_files",
    "storage_pools",
    "storage_scan",
    "storage_status",
    "tasks",
    "version",
)
"""Modules of this package, each of which registers its functions when it is imported."""
