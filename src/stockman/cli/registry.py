"""All commands by name: the location of their code, and their help in the overview.

A new command is one file and one entry here. Commands inside of a group have a space in their name,
`config show`; the group has its own entry. Modules are imported when they are called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

PROGRAM = "stockman"
COMPLETION_VARIABLE = "_STOCKMAN_COMPLETE"
"""Environment variable with which a shell requests completions."""

START = "Start"
INSPECT = "Inspect"
CHANGE = "Change"
SECRETS = "Secrets"
SIMULATE = "Simulate"
LEARN = "Reference"

SECTIONS = (START, INSPECT, CHANGE, SECRETS, SIMULATE, LEARN)
"""Sections of the overview, in order."""


class CommandEntry(NamedTuple):
    """A command whose module is not imported yet."""

    target: str
    """`module:attribute`; empty for a command of another distribution."""
    help: str
    """First line of the command's docstring."""
    section: str
    extra: str = ""
    """The extra that installs the command's distribution; empty for a command of this one."""


ENTRY_POINTS = "stockman.commands"
"""Entry point group of commands of other distributions; a name is the path of a command."""

Registry = Mapping[str, CommandEntry]


def _commands(section: str, rows: Mapping[str, tuple[str, str]]) -> Registry:
    """Return entries of commands, each with its module in `stockman.cli` and its help."""
    return {
        name: CommandEntry(f"stockman.cli.{module}:{name.replace(' ', '_')}", help_, section)
        for name, (module, help_) in rows.items()
    }


COMMANDS: Registry = {
    **_commands(
        START,
        {
            "init": ("init.init", "Write starter files with comments, and create keys and tokens."),
            "render": ("render", "Render the Git repository from the configuration."),
            "adopt": ("adopt", "Write configuration files for a running cluster."),
        },
    ),
    **_commands(
        INSPECT,
        {
            "validate": ("validate", "Check the configuration and show all problems."),
            "graph": (
                "explain",
                "Show enabled components, their phases, versions and dependencies.",
            ),
            "config": ("config.show", "Show, compare, check and export the configuration."),
            "config show": ("config.show", "Show the configuration with all defaults applied."),
            "config schematic": (
                "config.nocloud",
                "Show the boot images of nodes and their schematic IDs.",
            ),
            "config check": (
                "config.machine",
                "Check a machine configuration with the rules of Talos.",
            ),
            "config migrate": ("config.show", "Show what a newer Talos contract changes."),
            "config nocloud": (
                "config.nocloud",
                "Show the NoCloud data of a node, or write it as an ISO image.",
            ),
            "config talosconfig": ("config.clients", "Write or renew the talosconfig."),
            "config kubeconfig": (
                "config.clients",
                "Write or renew the administrator's kubeconfig.",
            ),
            "config machine": ("config.machine", "Show the machine configuration of a node."),
            "config diff": ("config.show", "Compare the configurations of two directories."),
            "convert": (
                "convert",
                "Convert configuration files to another dialect or from another tool.",
            ),
            "status": (
                "status.status",
                "Show the status of Proxmox VE, Talos, etcd, Kubernetes, Flux and more.",
            ),
            "health": (
                "status.status",
                "Check the health of the cluster, for cron and Prometheus.",
            ),
            "drift": (
                "drift",
                "Show drift from the configuration, who caused it, and how to correct it.",
            ),
            "doctor": (
                "doctor",
                "Check files, credentials, servers and tools that stockman depends on.",
            ),
        },
    ),
    **_commands(
        CHANGE,
        {
            "plan": ("plans.plan", "Show the changes needed to match the configuration."),
            "apply": (
                "plans.apply",
                "Apply the configuration: access, images, VMs, Talos, Kubernetes.",
            ),
            "destroy": (
                "plans.apply",
                "Delete the VMs of the cluster, its guests, and what was created for them.",
            ),
            "runs": ("group", "List, show, resume and abort runs."),
            "runs list": ("runs", "List runs and their results."),
            "runs show": ("runs", "Show the steps of a run."),
            "runs resume": ("runs", "Resume a run that was interrupted, paused or failed."),
            "runs abort": ("runs", "Abort a run and release its holds."),
            "runs export": ("runs", "Print the plan and the journal of a run."),
            "runs metrics": ("runs", "Print Prometheus metrics of the newest run."),
        },
    ),
    **_commands(
        SECRETS,
        {
            "secrets": ("group", "Manage encrypted files, without sops and age."),
            "secrets create": (
                "secrets.edit",
                "Create the secrets bundle of the cluster, or import an existing one.",
            ),
            "secrets edit": ("secrets.edit", "Edit a secret file in your editor."),
            "secrets get": ("secrets.edit", "Print a secret file, or one of its values."),
            "secrets set": ("secrets.edit", "Set a value of a secret file, or its whole content."),
            "secrets rotate": (
                "secrets.rotate",
                "Rotate the data keys of secret files, or Proxmox VE tokens.",
            ),
            "secrets rekey": (
                "secrets.rotate",
                "Encrypt secret files for the recipients in .sops.yaml.",
            ),
            "secrets status": (
                "secrets.status",
                "List secret files, their recipients, and whether they changed.",
            ),
            "secrets check": (
                "secrets.check",
                "Check that secrets are encrypted and do not appear in plain text.",
            ),
            "secrets certs": (
                "secrets.status",
                "List certificates and the days until they expire.",
            ),
        },
    ),
    "lab": CommandEntry(
        "",
        "Run a simulated Proxmox VE on this machine, and inject faults into it.",
        SIMULATE,
        extra="lab",
    ),
    **_commands(
        LEARN,
        {
            "versions": ("versions", "Show compatible versions, pinned versions and updates."),
            "explain": ("explain", "Explain a configuration key, a problem code or a component."),
            "schema": ("explain", "Print the JSON Schema of a configuration file."),
            "completion": ("completion", "Print a shell completion script."),
        },
    ),
}

EXAMPLES: Mapping[str, str] = {
    "stockman init my-cluster --preset three-node": "write a complete configuration from a preset",
    "stockman -C my-cluster validate": "check the configuration",
    "source <(stockman completion bash)": "complete commands, options and values with the Tab key",
}
"""Examples of the overview: command lines and descriptions."""


def children(registry: Registry, group: str) -> dict[str, CommandEntry]:
    """Return the commands directly inside of a group; those of the program for `""`."""
    prefix = f"{group} " if group else ""
    return {
        name.removeprefix(prefix): entry
        for name, entry in registry.items()
        if name.startswith(prefix) and " " not in name.removeprefix(prefix)
    }


def by_section(entries: Registry) -> dict[str, list[tuple[str, str]]]:
    """Return names and help of commands by section, in the order of `SECTIONS`."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for section in SECTIONS:
        rows = [(name, entry.help) for name, entry in entries.items() if entry.section == section]
        if rows:
            sections[section] = rows
    return sections
