"""The commands of the lab, by name: where their code is, and what help says about them."""

from __future__ import annotations

from stockman.cli.registry import SIMULATE, CommandEntry, Registry

COMMANDS: Registry = {
    "lab": CommandEntry(
        "stockman_lab.commands.lab:lab",
        "Run a simulated Proxmox VE on this machine, and inject faults into it.",
        SIMULATE,
    ),
    "lab up": CommandEntry(
        "stockman_lab.commands.up:lab_up",
        "Start a lab: hosts of a simulated Proxmox VE that answer on loopback addresses.",
        SIMULATE,
    ),
    "lab status": CommandEntry(
        "stockman_lab.commands.inspect:lab_status",
        "Show what a running lab holds, and what time it is there.",
        SIMULATE,
    ),
    "lab machine": CommandEntry(
        "stockman_lab.commands.inspect:lab_machine",
        "Show the Talos machines of a running lab.",
        SIMULATE,
    ),
    "lab env": CommandEntry(
        "stockman_lab.commands.inspect:lab_env",
        "Print the variables by which clients find a running lab.",
        SIMULATE,
    ),
    "lab connect": CommandEntry(
        "stockman_lab.commands.connect:lab_connect",
        "Write into cluster.yaml where a running lab answers.",
        SIMULATE,
    ),
    "lab power": CommandEntry(
        "stockman_lab.commands.control:lab_power",
        "Switch a host of a running lab on or off.",
        SIMULATE,
    ),
    "lab fault": CommandEntry(
        "stockman_lab.commands.control:lab_fault",
        "Make something go wrong in a running lab, or list what does.",
        SIMULATE,
    ),
    "lab clock": CommandEntry(
        "stockman_lab.commands.control:lab_clock",
        "Show the time of a running lab, let some of it pass, or change its speed.",
        SIMULATE,
    ),
    "lab log": CommandEntry(
        "stockman_lab.commands.inspect:lab_log",
        "Show the requests that a running lab answered last.",
        SIMULATE,
    ),
    "lab down": CommandEntry(
        "stockman_lab.commands.control:lab_down",
        "Stop a running lab; its state is kept.",
        SIMULATE,
    ),
}
