"""The first etcd of a cluster: begun on one machine, empty or out of a snapshot."""

from __future__ import annotations

from stockman_lab.talos.machine import Machine


def bootstrap(machine: Machine, *, recover: bool = False, skip_hash: bool = False) -> None:
    """Let the etcd of a machine begin a cluster."""
    machine.state.bootstrap = {"recover": recover, "skip_hash": skip_hash, "wanted": True}
    machine.land.settle(machine)
