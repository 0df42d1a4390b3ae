"""`stockman lab`: a simulated Proxmox VE to rehearse on."""

from __future__ import annotations

from stockman.cli.group import group
from stockman.cli.registry import children
from stockman_lab.commands.registry import COMMANDS


@group(
    examples={
        "stockman lab up --preset three-node --detach": "three hosts that answer on this machine",
        'eval "$(stockman lab env)"': "let clients of Proxmox VE find them",
        "stockman lab down": "stop them, and keep their state",
    },
    entries=children(COMMANDS, "lab"),
)
def lab() -> None:
    """Run a simulated Proxmox VE on this machine, and inject faults into it."""
