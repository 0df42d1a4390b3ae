"""Step ids and lanes of the Talos stage."""

from __future__ import annotations

ETCD_LANE = "etcd"
"""Lane of everything that adds, removes or restarts an etcd member: one at a time."""
REBOOT_LANE = "talos/reboot"


def await_step_id(node: str) -> str:
    return f"talos/await/{node}"


def configure_step_id(node: str) -> str:
    """Return the id of the step after which a new node has its configuration."""
    return f"talos/configure/{node}"


def join_step_id(node: str) -> str:
    """Return the id of the step after which a new node runs, and a controller is an etcd member."""
    return f"talos/joined/{node}"
