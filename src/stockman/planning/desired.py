"""The input of planning besides the observed state."""

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
    """Options of the plan of Proxmox clusters."""

    prune: bool = False
    """Whether images that no node uses are deleted."""
    unkept: frozenset[str] = frozenset()
    """References (`SecretRef.place`) of token secrets that are not stored."""
    chosen: frozenset[str] = frozenset()
    """The selected nodes: those that QEMU halted are restarted."""


@record
class DesiredState:
    """The desired state and what was rendered from it."""

    desired: Desired
    configurations: Mapping[str, Secret] = field(default_factory=dict)
    """Machine configurations by node."""
    client_files: tuple[WriteClientFile, ...] = ()
    kubernetes: DesiredKubernetes | None = None
    """None: there is no cluster."""
    unrendered: tuple[str, ...] = ()
    """Files on disk that differ from the rendered ones."""
    stale: tuple[str, ...] = ()
    """Files on disk that are no longer rendered; they are kept until somebody removes them."""
    push: bool = False
    """Whether rendered files are committed and pushed."""
    reconcile: bool = False
    """Whether Flux is asked to reconcile now."""
    unpushed: str = ""
    """How the pushed commit differs from the tree. Empty: it does not, or it was not checked."""
    chosen: frozenset[str] = frozenset()
    """The selected nodes, which do not wait for restarts of others. Empty: all."""
    any_time: bool = False
    """Whether machines may restart outside of maintenance windows."""
    first_config: Mapping[str, str] = field(default_factory=dict)
    """Confirmed fingerprints of machines in maintenance mode, by node."""
    options: ProxmoxOptions = ProxmoxOptions()
