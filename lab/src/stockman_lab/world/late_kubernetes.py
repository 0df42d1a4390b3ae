"""The Kubernetes of a world's machines, which is loaded when the first API server answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.kube.clusters.clusters import Kubernetes
    from stockman_lab.talos.machine import Machine


class LateKubernetes:
    """What machines tell before there is a cluster is told to nobody."""

    def __init__(self, states: Mapping[str, object], load: Callable[[], Kubernetes]) -> None:
        self._states = states
        self._load = load

    def notice(self, machine: Machine) -> None:
        """Something happened to a machine."""
        if self._states:
            self._load().notice(machine)

    def look_around(self) -> None:
        """Something around all machines changed."""
        if self._states:
            self._load().look_around()

    def served(self, machine: Machine) -> None:
        """The API server of a machine began to answer."""
        self._load().served(machine)

    def drain(self, machine: Machine) -> bool:
        """Close a node and evict its pods."""
        return bool(self._states) and self._load().drain(machine)

    def listed(self, machine: Machine, plural: str) -> Sequence[Mapping[str, object]]:
        """Objects of a kind of the machine's cluster."""
        return self._load().listed(machine, plural) if self._states else ()

    def manifests(self, machine: Machine) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """What the machine brings into its cluster."""
        return self._load().manifests(machine) if self._states else {}
