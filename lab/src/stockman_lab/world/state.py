"""All that is to be known of a world: what its file holds."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Faults
from stockman_lab.core.state import state
from stockman_lab.core.timeline import TimelineState
from stockman_lab.factory.state import FactoryState
from stockman_lab.guest.network import Pools
from stockman_lab.images.blobs import Blobs
from stockman_lab.kube.controllers.manager import ControllersState
from stockman_lab.objects.state import ObjectsState
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.registry.state import RegistryState
from stockman_lab.talos.state import FleetState

VERSION = 1


@state
class Memory:
    """What a world was like when a fault began that lies about it."""

    at: float
    state: object
    """A `WorldState` as JSON, without bytes."""
    blobs: list[str] = field(default_factory=list)
    """Bytes that are held for it, by their names."""


@state
class WorldState:
    """All that a world is; what a state file holds."""

    timeline: TimelineState
    dice: Dice
    version: int = VERSION
    faults: Faults = field(default_factory=Faults)
    blobs: Blobs = field(default_factory=Blobs)
    network: Pools = field(default_factory=Pools)
    clusters: dict[str, ClusterState] = field(default_factory=dict)
    repositories: dict[str, str] = field(default_factory=dict)
    """Where Git repositories really are, by the URLs that files name."""
    images_address: str = ""
    """Where Image Factory and registry are served. Empty: nowhere."""
    factory: FactoryState = field(default_factory=FactoryState)
    registry: RegistryState = field(default_factory=RegistryState)
    objects_address: str = ""
    """Where object storage is served. Empty: nowhere."""
    objects: ObjectsState = field(default_factory=ObjectsState)
    talos: FleetState = field(default_factory=FleetState)
    kubernetes: dict[str, ControllersState] = field(default_factory=dict)
    """What controllers of Kubernetes have to do, by the ids of etcd clusters."""
    memories: dict[int, Memory] = field(default_factory=dict)
    """By the numbers of faults."""
