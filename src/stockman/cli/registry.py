"""Every command by name: where its code is, and what the overview says of it.

A new command is one file and one line here. Commands inside a group are named with a space,
`config show`; the group itself has a line of its own. Nothing is imported until it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

PROGRAM = "stockman"
COMPLETION_VARIABLE = "_STOCKMAN_COMPLETE"
"""Environment variable through which a shell asks the program for completions."""

START = "Start"
LOOK = "Look"
CHANGE = "Change"
SECRETS = "Secrets"
REHEARSE = "Rehearse"
UNDERSTAND = "Understand"

SECTIONS = (START, LOOK, CHANGE, SECRETS, REHEARSE, UNDERSTAND)
"""Headings of the overview, in its order."""


class Entry(NamedTuple):
    """One command before its module is imported."""

    target: str
    """`module:attribute`."""
    help: str
    """First line of the command's docstring."""
    section: str


Registry = Mapping[str, Entry]

COMMANDS: Registry = {
    "init": Entry(
        "stockman.cli.init:init",
        "Write commented starter files, and make keys and tokens.",
        START,
    ),
    "validate": Entry(
        "stockman.cli.validate:validate",
        "Check the configuration and show all mistakes at once.",
        LOOK,
    ),
    "render": Entry(
        "stockman.cli.render:render",
        "Write the repository that the configuration asks for.",
        START,
    ),
    "plan": Entry(
        "stockman.cli.plan:plan",
        "Show what differs from the configuration, and what a run would do about it.",
        CHANGE,
    ),
    "apply": Entry(
        "stockman.cli.apply:apply",
        "Make everything as the configuration says: access, images, VMs, Talos, Kubernetes.",
        CHANGE,
    ),
    "destroy": Entry(
        "stockman.cli.destroy:destroy",
        "Delete the VMs of the cluster and its guests, and all that stockman made for them.",
        CHANGE,
    ),
    "graph": Entry(
        "stockman.cli.graph:graph",
        "Show the components that are on: phases, versions, and what waits for what.",
        LOOK,
    ),
    "config": Entry(
        "stockman.cli.config:config",
        "Show the configuration in full, or compare two.",
        LOOK,
    ),
    "config show": Entry(
        "stockman.cli.config:config_show",
        "Show what the configuration means, with every default applied.",
        LOOK,
    ),
    "config schematic": Entry(
        "stockman.cli.config_schematic:config_schematic",
        "Show the images that nodes boot from, and the ids of their schematics.",
        LOOK,
    ),
    "config check": Entry(
        "stockman.cli.config_check:config_check",
        "Check a machine configuration as Talos would, and show all mistakes at once.",
        LOOK,
    ),
    "config migrate": Entry(
        "stockman.cli.config_migrate:config_migrate",
        "Show what a newer contract changes, with reasons.",
        LOOK,
    ),
    "config nocloud": Entry(
        "stockman.cli.config_nocloud:config_nocloud",
        "Show what a node reads at its first boot, or write it as an ISO image.",
        LOOK,
    ),
    "config talosconfig": Entry(
        "stockman.cli.config_talosconfig:config_talosconfig",
        "Write the talosconfig of the cluster, or renew it.",
        LOOK,
    ),
    "config kubeconfig": Entry(
        "stockman.cli.config_kubeconfig:config_kubeconfig",
        "Write the administrator's kubeconfig of the cluster, or renew it.",
        LOOK,
    ),
    "config machine": Entry(
        "stockman.cli.config_machine:config_machine",
        "Show the machine configuration of a node, with all patches in it.",
        LOOK,
    ),
    "config diff": Entry(
        "stockman.cli.config:config_diff",
        "Show what differs in meaning between the configurations of two directories.",
        LOOK,
    ),
    "adopt": Entry(
        "stockman.cli.adopt:adopt",
        "Write files that describe a cluster which runs already.",
        START,
    ),
    "convert": Entry(
        "stockman.cli.convert:convert",
        "Turn files of one dialect into those of the other.",
        LOOK,
    ),
    "status": Entry(
        "stockman.cli.status:status",
        "Show how everything is: Proxmox VE, Talos, etcd, Kubernetes, Flux and more.",
        LOOK,
    ),
    "health": Entry(
        "stockman.cli.health:health",
        "Check everything in one go, for cron and for Prometheus.",
        LOOK,
    ),
    "runs": Entry(
        "stockman.cli.runs:runs",
        "Show runs, go on with one, or give one up.",
        CHANGE,
    ),
    "runs list": Entry(
        "stockman.cli.runs_look:runs_list",
        "List every run, and how it ended.",
        CHANGE,
    ),
    "runs show": Entry(
        "stockman.cli.runs_look:runs_show",
        "Show how a run went, step by step.",
        CHANGE,
    ),
    "runs resume": Entry(
        "stockman.cli.runs_act:runs_resume",
        "Go on with a run that was killed, paused or failed.",
        CHANGE,
    ),
    "runs abort": Entry(
        "stockman.cli.runs_act:runs_abort",
        "Give a run up, and give back what it holds.",
        CHANGE,
    ),
    "runs export": Entry(
        "stockman.cli.runs_look:runs_export",
        "Print everything that is kept of a run: its plan and its journal.",
        CHANGE,
    ),
    "runs metrics": Entry(
        "stockman.cli.runs_metrics:runs_metrics",
        "Print metrics of the newest run, in the text format of Prometheus.",
        CHANGE,
    ),
    "drift": Entry(
        "stockman.cli.drift:drift",
        "Show what differs from the files, who did it, and what corrects it.",
        LOOK,
    ),
    "lab": Entry(
        "stockman.cli.lab:lab",
        "Run a simulated Proxmox VE on this machine, and make things go wrong in it.",
        REHEARSE,
    ),
    "lab up": Entry(
        "stockman.cli.lab_up:lab_up",
        "Start a lab: hosts of a simulated Proxmox VE that answer on loopback addresses.",
        REHEARSE,
    ),
    "lab status": Entry(
        "stockman.cli.lab_look:lab_status",
        "Show what a running lab holds, and what time it is there.",
        REHEARSE,
    ),
    "lab machine": Entry(
        "stockman.cli.lab_machine:lab_machine",
        "Show the Talos machines of a running lab, or the console of one.",
        REHEARSE,
    ),
    "lab env": Entry(
        "stockman.cli.lab_look:lab_env",
        "Print the variables by which clients find a running lab.",
        REHEARSE,
    ),
    "lab connect": Entry(
        "stockman.cli.lab_connect:lab_connect",
        "Write into cluster.yaml where a running lab answers.",
        REHEARSE,
    ),
    "lab power": Entry(
        "stockman.cli.lab_steer:lab_power",
        "Switch a host of a running lab on or off.",
        REHEARSE,
    ),
    "lab fault": Entry(
        "stockman.cli.lab_steer:lab_fault",
        "Make something go wrong in a running lab, or list what does.",
        REHEARSE,
    ),
    "lab clock": Entry(
        "stockman.cli.lab_steer:lab_clock",
        "Show the time of a running lab, let some of it pass, or change its speed.",
        REHEARSE,
    ),
    "lab log": Entry(
        "stockman.cli.lab_look:lab_log",
        "Show the requests that a running lab answered last.",
        REHEARSE,
    ),
    "lab coverage": Entry(
        "stockman.cli.lab_look:lab_coverage",
        "Show which calls of the API a lab answers; the others it refuses as unknown.",
        REHEARSE,
    ),
    "lab down": Entry(
        "stockman.cli.lab_steer:lab_down",
        "Stop a running lab; its state is kept.",
        REHEARSE,
    ),
    "secrets": Entry(
        "stockman.cli.secrets:secrets",
        "Make, open and change encrypted files, without sops and age.",
        SECRETS,
    ),
    "secrets create": Entry(
        "stockman.cli.secrets_create:secrets_create",
        "Make the secrets bundle of the cluster, or take that of a running one.",
        SECRETS,
    ),
    "secrets edit": Entry(
        "stockman.cli.secrets_edit:secrets_edit",
        "Change a secret file in your editor.",
        SECRETS,
    ),
    "secrets get": Entry(
        "stockman.cli.secrets_get:secrets_get",
        "Print what a secret file says, or one value of it.",
        SECRETS,
    ),
    "secrets set": Entry(
        "stockman.cli.secrets_set:secrets_set",
        "Put one value into a secret file, or give it new content.",
        SECRETS,
    ),
    "secrets rotate": Entry(
        "stockman.cli.secrets_rotate:secrets_rotate",
        "Encrypt secret files with new data keys, or renew tokens of Proxmox VE.",
        SECRETS,
    ),
    "secrets rekey": Entry(
        "stockman.cli.secrets_rekey:secrets_rekey",
        "Encrypt secret files for the recipients that .sops.yaml names.",
        SECRETS,
    ),
    "secrets status": Entry(
        "stockman.cli.secrets_status:secrets_status",
        "Show every secret file: for whom it is encrypted, and whether it changed.",
        SECRETS,
    ),
    "secrets check": Entry(
        "stockman.cli.secrets_check:secrets_check",
        "Check that secrets are encrypted, and stand nowhere in the clear.",
        SECRETS,
    ),
    "secrets certs": Entry(
        "stockman.cli.secrets_certs:secrets_certs",
        "List every certificate, and how many days each still holds.",
        SECRETS,
    ),
    "doctor": Entry(
        "stockman.cli.doctor:doctor",
        "Look at everything that stockman depends on, and say what to do about it.",
        LOOK,
    ),
    "versions": Entry(
        "stockman.cli.versions:versions",
        "Show which versions fit together, what you pin and what is newer.",
        UNDERSTAND,
    ),
    "explain": Entry(
        "stockman.cli.explain:explain",
        "Explain a key of the files, a problem by its code, or a component.",
        UNDERSTAND,
    ),
    "schema": Entry(
        "stockman.cli.schema:schema",
        "Print the JSON Schema of a file, for editors.",
        UNDERSTAND,
    ),
    "completion": Entry(
        "stockman.cli.completion:completion",
        "Print the script that lets a shell complete stockman's words.",
        UNDERSTAND,
    ),
}

EXAMPLES: Mapping[str, str] = {
    "stockman init my-cluster --preset three-node": "start with files that are complete",
    "stockman -C my-cluster validate": "see all mistakes at once",
    "source <(stockman completion bash)": "complete commands, options and values with the Tab key",
}
"""Examples of the overview: command line, and what it does."""


def children(registry: Registry, group: str) -> dict[str, Entry]:
    """The commands directly inside a group, by their last word; of the program for `""`."""
    prefix = f"{group} " if group else ""
    return {
        name.removeprefix(prefix): entry
        for name, entry in registry.items()
        if name.startswith(prefix) and " " not in name.removeprefix(prefix)
    }


def by_section(entries: Registry) -> dict[str, list[tuple[str, str]]]:
    """Name and help of commands under their headings, in the order of `SECTIONS`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for section in SECTIONS:
        rows = [(name, entry.help) for name, entry in entries.items() if entry.section == section]
        if rows:
            found[section] = rows
    return found
