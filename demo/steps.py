"""The steps of the demo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Comment(NamedTuple):
    """A comment between two commands."""

    text: str


class ChangeDirectory(NamedTuple):
    """Change the directory."""

    directory: str


class Command(NamedTuple):
    """Run stockman or git."""

    arguments: str
    status: int = 0
    """The expected exit status."""
    recorded_lines: int = 100
    """Maximum number of output lines in the recording; negative: the last ones."""
    program: str = "stockman"

    @property
    def line(self) -> str:
        return f"{self.program} {self.arguments}"


class ExportVariables(NamedTuple):
    """Set the variables that a command prints, for all following commands."""

    arguments: str

    @property
    def line(self) -> str:
        return f'eval "$(stockman {self.arguments})"'


Step = Comment | ChangeDirectory | Command | ExportVariables


class DemoPreset(NamedTuple):
    """A preset, and what the demo shows with it."""

    name: str
    directory: str
    hosts: str
    """Description of the simulated hosts."""
    failing_host: str
    """The host that is powered off."""
    node: str
    """The machine that is being created on it."""
    first: int
    """Last byte of the address of the first controller. 0: there is no Talos cluster."""

    @property
    def has_cluster(self) -> bool:
        return self.first > 0

    @property
    def repository(self) -> str:
        return f"https://github.com/example/{self.directory}.git"


DEMO_PRESETS = {
    preset.name: preset
    for preset in (
        DemoPreset("three-node", "k8s", "Three hosts with Ceph", "neo", "talos-neo", 16),
        DemoPreset(
            "fifteen-node", "prox-ops", "Four hosts with VLANs and GPUs", "thor", "k8s-work-4", 11
        ),
        DemoPreset("single", "single", "One host", "pve", "talos-1", 11),
        DemoPreset("home", "homelab", "Five hosts", "still-fawn", "k3s-vm-still-fawn", 0),
    )
}
"""The presets of the demo."""


def demo_steps(preset: DemoPreset, network: str) -> tuple[Step, ...]:
    """Return all steps for a preset in a loopback network."""
    return (
        *_files(preset, network),
        *(_push(preset) if preset.has_cluster else ()),
        *_host_failure(preset),
        *_end(),
    )


def _files(preset: DemoPreset, network: str) -> Iterator[Step]:
    options = f"--preset {preset.name} --network {network}"
    lab = f"lab up {options} --detach"
    if preset.has_cluster:
        lab += f" --repo {preset.repository}=../{preset.directory}.git"
        yield Comment("Two files describe the cluster")
    else:
        yield Comment("Files describe the machines")
    yield Command(f"init {preset.directory} {options}", recorded_lines=4)
    yield ChangeDirectory(preset.directory)
    yield Comment(f"{preset.hosts}, simulated on this machine")
    if preset.has_cluster:
        yield Command(f"init -q --bare -b main ../{preset.directory}.git", program="git")
    yield Command(lab)
    yield Command("lab connect")
    yield ExportVariables("lab env")
    yield Command("validate")


def _push(preset: DemoPreset) -> Iterator[Step]:
    yield Comment("Push the repository that Flux will follow")
    yield Command("render", recorded_lines=3)
    yield Command("init -q -b main", program="git")
    yield Command(f"remote add origin ../{preset.directory}.git", program="git")
    yield Command("add -A", program="git")
    yield Command('commit -q -m "A cluster"', program="git")
    yield Command("push -q -u origin main", program="git")


def _host_failure(preset: DemoPreset) -> Iterator[Step]:
    yield Comment("Show what would change")
    yield Command("plan", status=2, recorded_lines=-8)
    yield Comment(f"Let {preset.failing_host} fail while it copies the disk of {preset.node}")
    yield Command(f"lab fault task kill --match type=qmconfig --match node={preset.failing_host}")
    push = " --push" if preset.has_cluster else ""
    yield Command(f"apply{push} --yes", status=4, recorded_lines=-16)
    yield Comment("The host is back: resume the run")
    yield Command(f"lab power {preset.failing_host} on")
    yield Command("runs resume", recorded_lines=-10)


def _end() -> Iterator[Step]:
    yield Comment("Show the status, and a second plan, which is empty")
    yield Command("status --wait")
    yield Command("plan")


def command_lines(preset: DemoPreset, network: str) -> list[str]:
    """Return the command lines of the demo, in order."""
    lines = []
    for step in demo_steps(preset, network):
        if isinstance(step, Command | ExportVariables):
            lines.append(step.line)
        elif isinstance(step, ChangeDirectory):
            lines.append(f"cd {step.directory}")
    return lines


def follow_up_commands(preset: DemoPreset, network: str) -> tuple[str, ...]:
    """Return commands of other programs that work in the directory of the cluster."""
    if not preset.has_cluster:
        return ("stockman status", "stockman lab status")
    address = f"{network.rpartition('.')[0].rpartition('.')[0]}.0.{preset.first}"
    return (
        "kubectl --kubeconfig kubeconfig get nodes",
        "kubectl --kubeconfig kubeconfig get kustomizations -A",
        f"talosctl --talosconfig talos/clusterconfig/talosconfig -n {address} get members",
        f"talosctl --talosconfig talos/clusterconfig/talosconfig -n {address} etcd members",
        "stockman status",
    )
