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
INSPECT = "Look"
CHANGE = "Change"
SECRETS = "Secrets"
SIMULATE = "Rehearse"
LEARN = "Understand"

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

COMMANDS: Registry = {
    "init": CommandEntry(
        "stockman.cli.init.init:init",
        "Write starter files with comments, and create keys and tokens.",
        START,
    ),
    "validate": CommandEntry(
        "stockman.cli.validate:validate",
        "Check the configuration and show all problems.",
        INSPECT,
    ),
    "render": CommandEntry(
        "stockman.cli.render:render",
        "Render the Git repository from the configuration.",
        START,
    ),
    "plan": CommandEntry(
        "stockman.cli.plans.plan:plan",
        "Show the changes needed to match the configuration.",
        CHANGE,
    ),
    "apply": CommandEntry(
        "stockman.cli.plans.apply:apply",
        "Apply the configuration: access, images, VMs, Talos, Kubernetes.",
        CHANGE,
    ),
    "destroy": CommandEntry(
        "stockman.cli.plans.destroy:destroy",
        "Delete the VMs of the cluster, its guests, and what was created for them.",
        CHANGE,
    ),
    "graph": CommandEntry(
        "stockman.cli.graph:graph",
        "Show enabled components, their phases, versions and dependencies.",
        INSPECT,
    ),
    "config": CommandEntry(
        "stockman.cli.config.show:config",
        "Show, compare, check and export the configuration.",
        INSPECT,
    ),
    "config show": CommandEntry(
        "stockman.cli.config.show:config_show",
        "Show the configuration with all defaults applied.",
        INSPECT,
    ),
    "config schematic": CommandEntry(
        "stockman.cli.config.schematic:config_schematic",
        "Show the boot images of nodes and their schematic IDs.",
        INSPECT,
    ),
    "config check": CommandEntry(
        "stockman.cli.config.check:config_check",
        "Check a machine configuration with the rules of Talos.",
        INSPECT,
    ),
    "config migrate": CommandEntry(
        "stockman.cli.config.migrate:config_migrate",
        "Show what a newer Talos contract changes.",
        INSPECT,
    ),
    "config nocloud": CommandEntry(
        "stockman.cli.config.nocloud:config_nocloud",
        "Show the NoCloud data of a node, or write it as an ISO image.",
        INSPECT,
    ),
    "config talosconfig": CommandEntry(
        "stockman.cli.config.clients:config_talosconfig",
        "Write or renew the talosconfig.",
        INSPECT,
    ),
    "config kubeconfig": CommandEntry(
        "stockman.cli.config.clients:config_kubeconfig",
        "Write or renew the administrator's kubeconfig.",
        INSPECT,
    ),
    "config machine": CommandEntry(
        "stockman.cli.config.machine:config_machine",
        "Show the machine configuration of a node.",
        INSPECT,
    ),
    "config diff": CommandEntry(
        "stockman.cli.config.show:config_diff",
        "Compare the configurations of two directories.",
        INSPECT,
    ),
    "adopt": CommandEntry(
        "stockman.cli.adopt:adopt",
        "Write configuration files for a running cluster.",
        START,
    ),
    "convert": CommandEntry(
        "stockman.cli.convert:convert",
        "Convert configuration files to another dialect or from another tool.",
        INSPECT,
    ),
    "status": CommandEntry(
        "stockman.cli.status.status:status",
        "Show the status of Proxmox VE, Talos, etcd, Kubernetes, Flux and more.",
        INSPECT,
    ),
    "health": CommandEntry(
        "stockman.cli.status.health:health",
        "Check the health of the cluster, for cron and Prometheus.",
        INSPECT,
    ),
    "runs": CommandEntry(
        "stockman.cli.group:runs",
        "List, show, resume and abort runs.",
        CHANGE,
    ),
    "runs list": CommandEntry(
        "stockman.cli.runs.history:runs_list",
        "List runs and their results.",
        CHANGE,
    ),
    "runs show": CommandEntry(
        "stockman.cli.runs.history:runs_show",
        "Show the steps of a run.",
        CHANGE,
    ),
    "runs resume": CommandEntry(
        "stockman.cli.runs.control:runs_resume",
        "Resume a run that was interrupted, paused or failed.",
        CHANGE,
    ),
    "runs abort": CommandEntry(
        "stockman.cli.runs.control:runs_abort",
        "Abort a run and release its holds.",
        CHANGE,
    ),
    "runs export": CommandEntry(
        "stockman.cli.runs.history:runs_export",
        "Print the plan and the journal of a run.",
        CHANGE,
    ),
    "runs metrics": CommandEntry(
        "stockman.cli.runs.history:runs_metrics",
        "Print Prometheus metrics of the newest run.",
        CHANGE,
    ),
    "drift": CommandEntry(
        "stockman.cli.drift:drift",
        "Show drift from the configuration, who caused it, and how to correct it.",
        INSPECT,
    ),
    "lab": CommandEntry(
        "",
        "Run a simulated Proxmox VE on this machine, and make things go wrong in it.",
        SIMULATE,
        extra="lab",
    ),
    "secrets": CommandEntry(
        "stockman.cli.group:secrets",
        "Manage encrypted files, without sops and age.",
        SECRETS,
    ),
    "secrets create": CommandEntry(
        "stockman.cli.secrets.create:secrets_create",
        "Create the secrets bundle of the cluster, or import an existing one.",
        SECRETS,
    ),
    "secrets edit": CommandEntry(
        "stockman.cli.secrets.edit:secrets_edit",
        "Edit a secret file in your editor.",
        SECRETS,
    ),
    "secrets get": CommandEntry(
        "stockman.cli.secrets.edit:secrets_get",
        "Print a secret file, or one of its values.",
        SECRETS,
    ),
    "secrets set": CommandEntry(
        "stockman.cli.secrets.edit:secrets_set",
        "Set a value of a secret file, or its whole content.",
        SECRETS,
    ),
    "secrets rotate": CommandEntry(
        "stockman.cli.secrets.rotate:secrets_rotate",
        "Rotate the data keys of secret files, or Proxmox VE tokens.",
        SECRETS,
    ),
    "secrets rekey": CommandEntry(
        "stockman.cli.secrets.rotate:secrets_rekey",
        "Encrypt secret files for the recipients in .sops.yaml.",
        SECRETS,
    ),
    "secrets status": CommandEntry(
        "stockman.cli.secrets.status:secrets_status",
        "List secret files, their recipients, and whether they changed.",
        SECRETS,
    ),
    "secrets check": CommandEntry(
        "stockman.cli.secrets.check:secrets_check",
        "Check that secrets are encrypted and do not appear in plain text.",
        SECRETS,
    ),
    "secrets certs": CommandEntry(
        "stockman.cli.secrets.certs:secrets_certs",
        "List certificates and the days until they expire.",
        SECRETS,
    ),
    "doctor": CommandEntry(
        "stockman.cli.doctor:doctor",
        "Check files, credentials, servers and tools that stockman depends on.",
        INSPECT,
    ),
    "versions": CommandEntry(
        "stockman.cli.versions:versions",
        "Show compatible versions, pinned versions and updates.",
        LEARN,
    ),
    "explain": CommandEntry(
        "stockman.cli.explain:explain",
        "Explain a configuration key, a problem code or a component.",
        LEARN,
    ),
    "schema": CommandEntry(
        "stockman.cli.schema:schema",
        "Print the JSON Schema of a configuration file.",
        LEARN,
    ),
    "completion": CommandEntry(
        "stockman.cli.completion:completion",
        "Print a shell completion script.",
        LEARN,
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
