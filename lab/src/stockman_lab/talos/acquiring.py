"""Where a machine finds its configuration: on its disk, or with its platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.config.nocloud import PlatformData
    from stockman_lab.talos.machine import Machine


def acquired(machine: Machine, platform: PlatformData) -> bytes:
    """The configuration that a machine begins with. Empty: none."""
    disk = machine.disk
    if disk is not None and machine.state.slot and disk.config:
        text = disk.config
        source = "state"
    elif platform.machine_config is not None:
        text, source = platform.machine_config, machine.state.platform
    else:
        return b""
    return text if _is_usable(machine, text, source) else b""


def _is_usable(machine: Machine, text: bytes, source: str) -> bool:
    from stockman_lab.talos.config.verdict import static_verdict

    verdict = static_verdict(text, machine.minor, machine.mode)
    if verdict.accepted:
        machine.note(f"machine configuration was loaded from {source}")
        return True
    message = verdict.message
    machine.note(f"failed to load machine configuration from {source}: {message}")
    machine.tell("ConfigValidationErrorEvent", {"error": message})
    return False
