"""How steps of the Talos stage are called, and what of them is done one at a time."""

from __future__ import annotations

ETCD_LANE = "etcd"
"""Whatever adds or takes out a member of etcd, or takes one down: one at a time."""
REBOOT_LANE = "talos/reboot"


def await_step_id(node: str) -> str:
    return f"talos/await/{node}"


def configure_step_id(node: str) -> str:
    """The step after which a new node has its configuration."""
    return f"talos/configure/{node}"


def join_step_id(node: str) -> str:
    """The step after which a new node runs, as a member of etcd where it is a controller."""
    return f"talos/joined/{node}"
