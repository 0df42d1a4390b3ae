"""The configuration of one guest: what holds, what waits for the next start, and snapshots.

What needs the formats imports them when it is called: a lab starts without.
"""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state


@state
class GuestConfig:
    """Values of a guest as text, by key."""

    values: dict[str, str] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    """New values that wait."""
    pending_delete: dict[str, int] = field(default_factory=dict)
    """Keys that shall go; 1 if what they hold shall be destroyed."""
    snapshots: dict[str, dict[str, str]] = field(default_factory=dict)
    cloud_init: dict[str, str] = field(default_factory=dict)
    """Values that the cloud-init drive still has; `added` lists keys that it does not know yet."""
    raw: list[list[str]] = field(default_factory=list)
    """Settings of LXC itself, in order."""

    @property
    def pending_section(self) -> dict[str, str]:
        """What waits, as it is written down."""
        if not self.pending_delete:
            return dict(self.pending)
        keys = sorted(self.pending_delete)
        return {
            **self.pending,
            "delete": ",".join(f"!{key}" if self.pending_delete[key] else key for key in keys),
        }

    @property
    def has_pending(self) -> bool:
        """Whether anything waits."""
        return bool(self.pending or self.pending_delete)


def machine_config_text(config: GuestConfig) -> str:
    """The file of a virtual machine."""
    from stockman_lab.pve.formats.config_file import machine_text

    special = {"cloudinit": config.cloud_init} if has_cloud_init(config.values) else {}
    return machine_text(
        config.values,
        config.pending_section,
        config.snapshots,
        {name: section for name, section in special.items() if section},
    )


def container_config_text(config: GuestConfig) -> str:
    """The file of a container."""
    from stockman_lab.pve.formats.config_file import container_text

    return container_text(
        config.values,
        config.pending_section,
        config.snapshots,
        [(key, value) for key, value in config.raw],
    )


def machine_digest(config: GuestConfig) -> str:
    """The digest of a virtual machine's file."""
    return _digest(machine_config_text(config))


def container_digest(config: GuestConfig) -> str:
    """The digest of a container's file."""
    return _digest(container_config_text(config))


def has_cloud_init(values: dict[str, str], but: str = "") -> str:
    """The drive with cloud-init data, another than `but`; or nothing."""
    from stockman_lab.pve.formats.drive import DRIVES, readable_drive

    for key in DRIVES:
        if key != but and "cloudinit" in values.get(key, ""):
            drive = readable_drive(key, values[key])
            if drive and drive.is_cloud_init:
                return key
    return ""


def _digest(text: str) -> str:
    from stockman_lab.pve.formats.config_file import digest

    return digest(text)
