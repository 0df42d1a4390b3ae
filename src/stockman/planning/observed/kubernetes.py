"""What a cluster was seen to hold. Unknown is not absent: what nobody could read is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum

from stockman.model.record import record
from stockman.steps.kubernetes.readiness import ConditionResult
from stockman.steps.kubernetes.releases import HelmRelease


class ObjectOwner(Enum):
    """Who keeps an object as it is."""

    STOCKMAN = "stockman"
    FLUX = "flux"
    HELM = "helm"
    OTHERS = "others"


@record
class ObservedNode:
    """A Node."""

    name: str
    uid: str
    is_ready: bool
    unschedulable: bool
    is_controller: bool
    kubelet: str
    """`v1.36.3`. Empty: not told yet."""
    system: str
    """`Talos (v1.14.1)`. Empty: not told yet."""
    provider_id: str
    """Empty: no cloud controller has said so."""
    region: str
    zone: str
    addresses: tuple[str, ...]
    taints: tuple[str, ...]
    """`key:effect`."""
    boot_id: str
    machine_id: str
    why: str
    """Why it is not ready, in the words of its kubelet. Empty: it is."""
    created: datetime | None = None
    """None: not told."""
    pressures: tuple[str, ...] = ()
    """What it has too little of, in the words of its kubelet: `DiskPressure`."""
    managers: tuple[str, ...] = ()
    """Who wrote to it, as far as the server tells."""

    @property
    def is_uninitialized(self) -> bool:
        """Whether it waits for a cloud controller."""
        return any(one.startswith("node.cloudprovider.kubernetes.io/") for one in self.taints)


@record
class ObservedObject:
    """An object of any kind, as far as plans and status need it."""

    kind: str
    namespace: str
    """Empty: it is in none."""
    name: str
    uid: str
    owner: ObjectOwner
    release: str = ""
    """The release of Helm that made it. Empty: none did."""
    ready: bool | None = None
    """None: it does not say."""
    seen: str = ""
    """How far it is, in few words."""
    suspended: bool = False
    revision: str = ""
    """What Flux applied last. Empty: nothing, or it is not of Flux."""
    managers: tuple[str, ...] = ()


@record
class ObservedSecret:
    """A Secret: digests of what it holds, never the values."""

    namespace: str
    name: str
    owner: ObjectOwner
    digests: Mapping[str, str]


@record
class ObservedKubernetes:
    """One look at a cluster. None: that part could not be read, and `unknown` says why."""

    at: datetime
    source: str
    """Where it was read."""
    version: str | None
    """`v1.36.3`."""
    nodes: tuple[ObservedNode, ...] | None = None
    namespaces: tuple[ObservedObject, ...] | None = None
    releases: tuple[HelmRelease, ...] | None = None
    """Only the last revision of each."""
    workloads: tuple[ObservedObject, ...] | None = None
    definitions: tuple[ObservedObject, ...] | None = None
    installers: tuple[ObservedObject, ...] | None = None
    """Bindings of ours for Jobs that install charts: there as long as anything of one is."""
    flux: tuple[ObservedObject, ...] | None = None
    secrets: tuple[ObservedSecret, ...] | None = None
    """Those that were asked for and are there."""
    config_maps: tuple[ObservedObject, ...] | None = None
    """Those that were asked for and are there."""
    trials: Mapping[str, str] | None = None
    """Versions of components that were tried with success, by name."""
    working: Mapping[str, tuple[ConditionResult, ...]] = field(default_factory=dict)
    """How the conditions of each component are; those that could not be read are missing."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Why a part could not be read, by its name."""
    calls: int = 0

    def release(self, namespace: str, name: str) -> HelmRelease | None:
        return next(
            (one for one in self.releases or () if (one.namespace, one.name) == (namespace, name)),
            None,
        )

    def of_flux(self, kind: str, namespace: str, name: str) -> ObservedObject | None:
        return _find_by_name(self.flux or (), kind, namespace, name)

    def workload(self, kind: str, namespace: str, name: str) -> ObservedObject | None:
        return _find_by_name(self.workloads or (), kind, namespace, name)

    def node(self, name: str) -> ObservedNode | None:
        return next((one for one in self.nodes or () if one.name == name), None)

    def works(self, component: str) -> bool:
        """Whether everything that a component promises was seen to hold."""
        found = self.working.get(component)
        return found is not None and all(one.holds for one in found)


def _find_by_name(
    found: tuple[ObservedObject, ...], kind: str, namespace: str, name: str
) -> ObservedObject | None:
    wanted = (kind, namespace, name)
    return next((one for one in found if (one.kind, one.namespace, one.name) == wanted), None)
