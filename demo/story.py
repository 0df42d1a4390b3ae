"""What the demo shows, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Say(NamedTuple):
    """A sentence between two commands."""

    text: str


class Enter(NamedTuple):
    """A change into a directory."""

    directory: str


class Run(NamedTuple):
    """A command line of stockman, or of git."""

    arguments: str
    status: int = 0
    """The exit status that it has to end with."""
    pictured: int = 100
    """Lines of its output that the picture has room for; negative: the last ones."""
    program: str = "stockman"

    @property
    def line(self) -> str:
        return f"{self.program} {self.arguments}"


class Export(NamedTuple):
    """Variables that a command prints, set for all commands after it."""

    arguments: str

    @property
    def line(self) -> str:
        return f'eval "$(stockman {self.arguments})"'


Scene = Say | Enter | Run | Export


class Cast(NamedTuple):
    """Who plays: a preset, and what it brings."""

    preset: str
    directory: str
    hosts: str
    """What is simulated, in words."""
    unlucky: str
    """The host that loses its power."""
    node: str
    """The machine that is being made on it."""
    first: int
    """Place of the first controller in the network. 0: there is no Talos cluster."""

    @property
    def has_cluster(self) -> bool:
        return self.first > 0

    @property
    def repository(self) -> str:
        return f"https://github.com/example/{self.directory}.git"


CASTS = {
    one.preset: one
    for one in (
        Cast("three-node", "k8s", "Three hosts with Ceph", "neo", "talos-neo", 16),
        Cast(
            "fifteen-node", "prox-ops", "Four hosts with VLANs and GPUs", "thor", "k8s-work-4", 11
        ),
        Cast("single", "single", "One host", "pve", "talos-1", 11),
        Cast("home", "homelab", "Five hosts", "still-fawn", "k3s-vm-still-fawn", 0),
    )
}
"""The presets that can be shown."""


def story(cast: Cast, network: str) -> tuple[Scene, ...]:
    """All scenes of a preset in a loopback network."""
    return (
        *_files(cast, network),
        *(_pushed(cast) if cast.has_cluster else ()),
        *_trouble(cast),
        *_end(),
    )


def _files(cast: Cast, network: str) -> Iterator[Scene]:
    lab = f"lab up --preset {cast.preset} --network {network}"
    lab += " --detach"
    if cast.has_cluster:
        lab += f" --repo {cast.repository}=../{cast.directory}.git"
        yield Say("Two files say what should be")
    else:
        yield Say("Files say what should be")
    yield Run(f"init {cast.directory} --preset {cast.preset} --network {network}", pictured=4)
    yield Enter(cast.directory)
    yield Say(f"{cast.hosts}, simulated on this machine alone, instead of your own")
    if cast.has_cluster:
        yield Run(f"init -q --bare -b main ../{cast.directory}.git", program="git")
    yield Run(lab)
    yield Run("lab connect")
    yield Export("lab env")
    yield Run("validate")


def _pushed(cast: Cast) -> Iterator[Scene]:
    yield Say("The repository that Flux will follow, pushed")
    yield Run("render", pictured=3)
    yield Run("init -q -b main", program="git")
    yield Run(f"remote add origin ../{cast.directory}.git", program="git")
    yield Run("add -A", program="git")
    yield Run('commit -q -m "A cluster"', program="git")
    yield Run("push -q -u origin main", program="git")


def _trouble(cast: Cast) -> Iterator[Scene]:
    yield Say("What would be done")
    yield Run("plan", status=2, pictured=-8)
    yield Say(f"{cast.unlucky} is going to lose its power while it copies the disk of {cast.node}")
    yield Run(f"lab fault task kill --match type=qmconfig --match node={cast.unlucky}")
    push = " --push" if cast.has_cluster else ""
    yield Run(f"apply{push} --yes", status=4, pictured=-16)
    yield Say("The host is back, and the run goes on where it stopped")
    yield Run(f"lab power {cast.unlucky} on")
    yield Run("runs resume", pictured=-10)


def _end() -> Iterator[Scene]:
    yield Say("How everything is, and a second plan, which is empty")
    yield Run("status --wait")
    yield Run("plan")


def command_lines(cast: Cast, network: str) -> list[str]:
    """What somebody who follows the demo would type, in order."""
    lines = []
    for scene in story(cast, network):
        if isinstance(scene, Run | Export):
            lines.append(scene.line)
        elif isinstance(scene, Enter):
            lines.append(f"cd {scene.directory}")
    return lines


def afterwards(cast: Cast, network: str) -> tuple[str, ...]:
    """Commands of real clients that work in the directory of the cluster."""
    if not cast.has_cluster:
        return ("stockman status", "stockman lab status")
    address = f"{network.rpartition('.')[0].rpartition('.')[0]}.0.{cast.first}"
    return (
        "kubectl --kubeconfig kubeconfig get nodes",
        "kubectl --kubeconfig kubeconfig get kustomizations -A",
        f"talosctl --talosconfig talos/clusterconfig/talosconfig -n {address} get members",
        f"talosctl --talosconfig talos/clusterconfig/talosconfig -n {address} etcd members",
        "stockman status",
    )
