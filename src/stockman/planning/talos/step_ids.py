"""Step ids and lanes of the Talos stage."""

from __future__ import annotations

ETCD_LANE = "etcd"
"""Lane of everything that adds, removes or restarts an etcd member: one at a time."""
REBOOT_LANE = "talos/reboot"
BOOTSTRAP_STEP, ETCD_HEALTHY_STEP = "talos/bootstrap", "talos/etcd-healthy"
ETCD_STEPS = (
    BOOTSTRAP_STEP,
    ETCD_HEALTHY_STEP,
    "talos/leave/",
    "talos/remove-member/",
    "talos/rejoin/",
)
"""Ids, or how they start, of steps that are only finished if etcd exists."""


def await_step_id(node: str) -> str:
    return f"talos/await/{node}"


def configure_step_id(node: str) -> str:
    """Return the id of the step after which a new node has its configuration."""
    return f"talos/configure/{node}"


def join_step_id(node: str) -> str:
    """Return the id of the step after which a new node runs, and a controller is an etcd member."""
    return f"talos/joined/{node}"
