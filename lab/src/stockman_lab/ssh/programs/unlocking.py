"""Locks that nobody gives back any more, taken away by root."""

from __future__ import annotations

from stockman_lab.ssh.programs.console import Console


def unlock(console: Console, kind: str, vmid: str) -> None:
    """Let a guest go of whatever lock it has; raises `ApiError` where there is no such guest."""
    number = int(vmid) if vmid.isdigit() else 0
    console.passing.catch_up()
    cluster = console.api.cluster
    guest = cluster.guest(console.host.name, number, kind)
    if guest.config.values.pop("lock", None) is not None:
        guest.changed_at = cluster.now
        cluster.changed()
