"""What machines tell the Kubernetes that they are a part of, where a world has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


class KubernetesSide(Protocol):
    """The clusters that machines make up."""

    def notice(self, machine: Machine) -> None:
        """Something happened to a machine: its kubelet began or ended, its network went."""
        ...

    def look_around(self) -> None:
        """Something around all machines changed: a fault."""
        ...

    def served(self, machine: Machine) -> None:
        """The API server of a machine began to answer."""
        ...

    def drain(self, machine: Machine) -> bool:
        """Close a node and evict its pods; returns whether somebody tells when that is done."""
        ...

    def listed(self, machine: Machine, plural: str) -> Sequence[Mapping[str, object]]:
        """Objects of a built-in kind of the machine's cluster, whether its API answers or not."""
        ...

    def manifests(self, machine: Machine) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """What the machine brings into its cluster, by the names that Talos has for it."""
        ...
