"""A guest: a virtual machine or a container."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state
from stockman_lab.pve.guest_config.state import GuestConfig


@state
class Guest:
    """One guest of a cluster, wherever it is."""

    vmid: int
    kind: str
    """`qemu` or `lxc`."""
    node: str
    config: GuestConfig
    status: str = "stopped"
    """`running` or `stopped`."""
    paused: bool = False
    halted: str = ""
    """`io-error` or `internal-error`, after which QEMU runs it no more. Empty: none of them."""
    started_at: float = 0.0
    pid: int = 0
    inside: dict[str, object] = field(default_factory=dict)
    """What runs in it, saved by itself. Empty: nothing."""
    busy_until: float = 0.0
    """Until when its file lock is held."""
    shared_until: float = 0.0
    """Until when others read its file, so that nobody may write it."""
    cloud_init: str = ""
    """The blob on its cloud-init drive."""
    changed_at: float = 0.0
    """When rows about it changed last."""
    reported: dict[str, object] = field(default_factory=dict)
    """What pvestatd wrote about it before it changed. Empty: nothing."""

    @property
    def is_running(self) -> bool:
        return self.status == "running"

    @property
    def name(self) -> str:
        key = "hostname" if self.kind == "lxc" else "name"
        default = f"CT{self.vmid}" if self.kind == "lxc" else f"VM {self.vmid}"
        return self.config.values.get(key, default)

    @property
    def lock(self) -> str:
        return self.config.values.get("lock", "")

    @property
    def is_template(self) -> bool:
        return self.config.values.get("template", "0") == "1"
