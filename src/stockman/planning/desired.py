"""What a plan is made from, beside what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.desired import Desired
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.steps.talos.client_files import WriteClientFile


@record
class ProxmoxOptions:
    """How the plan of a Proxmox cluster is made."""

    prune: bool = False
    """Whether images that no node has any more are deleted."""
    unkept: frozenset[str] = frozenset()
    """Places (`SecretRef.place`) that should have the secret of a token and do not."""


@record
class DesiredState:
    """Everything that should be, with what was made from it."""

    desired: Desired
    configurations: Mapping[str, Secret] = field(default_factory=dict)
    """Machine configurations by node."""
    client_files: tuple[WriteClientFile, ...] = ()
    kubernetes: DesiredKubernetes | None = None
    """None: there is no cluster."""
    unrendered: tuple[str, ...] = ()
    """Files that are not on disk as they would be rendered."""
    stale: tuple[str, ...] = ()
    """Files that are on disk and not rendered any more; they stay until somebody removes them."""
    push: bool = False
    """Whether what was rendered is committed and pushed."""
    reconcile: bool = False
    """Whether Flux is asked to look at the repository now."""
    unpushed: str = ""
    """How the pushed commit differs from the tree. Empty: it does not, or nobody asked."""
    chosen: frozenset[str] = frozenset()
    """Nodes that alone are wanted: none of theirs waits for others to be restarted. Empty: all."""
    any_time: bool = False
    """Whether machines are restarted outside of windows, too."""
    options: ProxmoxOptions = ProxmoxOptions()
