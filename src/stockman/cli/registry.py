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
INSPECT = "Look"
CHANGE = "Change"
SECRETS = "Secrets"
SIMULATE = "Rehearse"
LEARN = "Understand"

SECTIONS = (START, INSPECT, CHANGE, SECRETS, SIMULATE, LEARN)
"""Headings of the overview, in its order."""


class CommandEntry(NamedTuple):
    """One command before its module is imported."""

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
        "Write commented starter files, and make keys and tokens.",
        START,
    ),
    "validate": CommandEntry(
        "stockman.cli.validate:validate",
        "Check the configuration and show all mistakes at once.",
        INSPECT,
    ),
    "render": CommandEntry(
        "stockman.cli.render:render",
        "Write the repository that the configuration asks for.",
        START,
    ),
    "plan": CommandEntry(
        "stockman.cli.plans.plan:plan",
        "Show what differs from the configuration, and what a run would do about it.",
        CHANGE,
    ),
    "apply": CommandEntry(
        "stockman.cli.plans.apply:apply",
        "Make everything as the configuration says: access, images, VMs, Talos, Kubernetes.",
        CHANGE,
    ),
    "destroy": CommandEntry(
        "stockman.cli.plans.destroy:destroy",
        "Delete the VMs of the cluster and its guests, and all that stockman made for them.",
        CHANGE,
    ),
    "graph": CommandEntry(
        "stockman.cli.graph:graph",
        "Show the components that are on: phases, versions, and what waits for what.",
        INSPECT,
    ),
    "config": CommandEntry(
        "stockman.cli.config.show:config",
        "Show the configuration in full, or compare two.",
        INSPECT,
    ),
    "config show": CommandEntry(
        "stockman.cli.config.show:config_show",
        "Show what the configuration means, with every default applied.",
        INSPECT,
    ),
    "config schematic": CommandEntry(
        "stockman.cli.config.schematic:config_schematic",
        "Show the images that nodes boot from, and the ids of their schematics.",
        INSPECT,
    ),
    "config check": CommandEntry(
        "stockman.cli.config.check:config_check",
        "Check a machine configuration as Talos would, and show all mistakes at once.",
        INSPECT,
    ),
    "config migrate": CommandEntry(
        "stockman.cli.config.migrate:config_migrate",
        "Show what a newer contract changes, with reasons.",
        INSPECT,
    ),
    "config nocloud": CommandEntry(
        "stockman.cli.config.nocloud:config_nocloud",
        "Show what a node reads at its first boot, or write it as an ISO image.",
        INSPECT,
    ),
    "config talosconfig": CommandEntry(
        "stockman.cli.config.clients:config_talosconfig",
        "Write the talosconfig of the cluster, or renew it.",
        INSPECT,
    ),
    "config kubeconfig": CommandEntry(
        "stockman.cli.config.clients:config_kubeconfig",
        "Write the administrator's kubeconfig of the cluster, or renew it.",
        INSPECT,
    ),
    "config machine": CommandEntry(
        "stockman.cli.config.machine:config_machine",
        "Show the machine configuration of a node, with all patches in it.",
        INSPECT,
    ),
    "config diff": CommandEntry(
        "stockman.cli.config.show:config_diff",
        "Show what differs in meaning between the configurations of two directories.",
        INSPECT,
    ),
    "adopt": CommandEntry(
        "stockman.cli.adopt:adopt",
        "Write files that describe a cluster which runs already.",
        START,
    ),
    "convert": CommandEntry(
        "stockman.cli.convert:convert",
        "Turn files of one dialect into those of the other.",
        INSPECT,
    ),
    "status": CommandEntry(
        "stockman.cli.status.status:status",
        "Show how everything is: Proxmox VE, Talos, etcd, Kubernetes, Flux and more.",
        INSPECT,
    ),
    "health": CommandEntry(
        "stockman.cli.status.health:health",
        "Check everything in one go, for cron and for Prometheus.",
        INSPECT,
    ),
    "runs": CommandEntry(
        "stockman.cli.group:runs",
        "Show runs, go on with one, or give one up.",
        CHANGE,
    ),
    "runs list": CommandEntry(
        "stockman.cli.runs.history:runs_list",
        "List every run, and how it ended.",
        CHANGE,
    ),
    "runs show": CommandEntry(
        "stockman.cli.runs.history:runs_show",
        "Show how a run went, step by step.",
        CHANGE,
    ),
    "runs resume": CommandEntry(
        "stockman.cli.runs.control:runs_resume",
        "Go on with a run that was killed, paused or failed.",
        CHANGE,
    ),
    "runs abort": CommandEntry(
        "stockman.cli.runs.control:runs_abort",
        "Give a run up, and give back what it holds.",
        CHANGE,
    ),
    "runs export": CommandEntry(
        "stockman.cli.runs.history:runs_export",
        "Print everything that is kept of a run: its plan and its journal.",
        CHANGE,
    ),
    "runs metrics": CommandEntry(
        "stockman.cli.runs.history:runs_metrics",
        "Print metrics of the newest run, in the text format of Prometheus.",
        CHANGE,
    ),
    "drift": CommandEntry(
        "stockman.cli.drift:drift",
        "Show what differs from the files, who did it, and what corrects it.",
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
        "Make, open and change encrypted files, without sops and age.",
        SECRETS,
    ),
    "secrets create": CommandEntry(
        "stockman.cli.secrets.create:secrets_create",
        "Make the secrets bundle of the cluster, or take that of a running one.",
        SECRETS,
    ),
    "secrets edit": CommandEntry(
        "stockman.cli.secrets.edit:secrets_edit",
        "Change a secret file in your editor.",
        SECRETS,
    ),
    "secrets get": CommandEntry(
        "stockman.cli.secrets.edit:secrets_get",
        "Print what a secret file says, or one value of it.",
        SECRETS,
    ),
    "secrets set": CommandEntry(
        "stockman.cli.secrets.edit:secrets_set",
        "Put one value into a secret file, or give it new content.",
        SECRETS,
    ),
    "secrets rotate": CommandEntry(
        "stockman.cli.secrets.rotate:secrets_rotate",
        "Encrypt secret files with new data keys, or renew tokens of Proxmox VE.",
        SECRETS,
    ),
    "secrets rekey": CommandEntry(
        "stockman.cli.secrets.rotate:secrets_rekey",
        "Encrypt secret files for the recipients that .sops.yaml names.",
        SECRETS,
    ),
    "secrets status": CommandEntry(
        "stockman.cli.secrets.status:secrets_status",
        "Show every secret file: for whom it is encrypted, and whether it changed.",
        SECRETS,
    ),
    "secrets check": CommandEntry(
        "stockman.cli.secrets.check:secrets_check",
        "Check that secrets are encrypted, and stand nowhere in the clear.",
        SECRETS,
    ),
    "secrets certs": CommandEntry(
        "stockman.cli.secrets.certs:secrets_certs",
        "List every certificate, and how many days each still holds.",
        SECRETS,
    ),
    "doctor": CommandEntry(
        "stockman.cli.doctor:doctor",
        "Look at everything that stockman depends on, and say what to do about it.",
        INSPECT,
    ),
    "versions": CommandEntry(
        "stockman.cli.versions:versions",
        "Show which versions fit together, what you pin and what is newer.",
        LEARN,
    ),
    "explain": CommandEntry(
        "stockman.cli.explain:explain",
        "Explain a key of the files, a problem by its code, or a component.",
        LEARN,
    ),
    "schema": CommandEntry(
        "stockman.cli.schema:schema",
        "Print the JSON Schema of a file, for editors.",
        LEARN,
    ),
    "completion": CommandEntry(
        "stockman.cli.completion:completion",
        "Print the script that lets a shell complete stockman's words.",
        LEARN,
    ),
}

EXAMPLES: Mapping[str, str] = {
    "stockman init my-cluster --preset three-node": "start with files that are complete",
    "stockman -C my-cluster validate": "see all mistakes at once",
    "source <(stockman completion bash)": "complete commands, options and values with the Tab key",
}
"""Examples of the overview: command line, and what it does."""


def children(registry: Registry, group: str) -> dict[str, CommandEntry]:
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
