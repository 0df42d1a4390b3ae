"""The observed state of Kubernetes. None: it could not be read, which is not the same as absent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum

from stockman.model.record import record
from stockman.steps.kubernetes.readiness import ConditionResult
from stockman.steps.kubernetes.releases import HelmRelease


class ObjectOwner(Enum):
    """Who manages an object."""

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
    """`v1.36.3`. Empty: not reported yet."""
    system: str
    """`Talos (v1.14.1)`. Empty: not reported yet."""
    provider_id: str
    """Empty: not set by a cloud controller yet."""
    region: str
    zone: str
    addresses: tuple[str, ...]
    taints: tuple[str, ...]
    """`key:effect`."""
    boot_id: str
    machine_id: str
    why: str
    """Why it is not ready, as reported by its kubelet. Empty: it is ready."""
    created: datetime | None = None
    """None: not reported."""
    pressures: tuple[str, ...] = ()
    """Resource pressure reported by its kubelet: `DiskPressure`."""
    managers: tuple[str, ...] = ()
    """Field managers, as far as reported."""

    @property
    def is_uninitialized(self) -> bool:
        """Whether it waits for a cloud controller to initialize it."""
        return any(taint.startswith("node.cloudprovider.kubernetes.io/") for taint in self.taints)


@record
class ObservedObject:
    """An object of any kind, reduced to what plans and status need."""

    kind: str
    namespace: str
    """Empty: not namespaced."""
    name: str
    uid: str
    owner: ObjectOwner
    release: str = ""
    """The Helm release that created it. Empty: none."""
    ready: bool | None = None
    """None: it has no such condition."""
    seen: str = ""
    """A short text about its progress."""
    suspended: bool = False
    revision: str = ""
    """Revision that Flux applied last. Empty: none, or not managed by Flux."""
    managers: tuple[str, ...] = ()


@record
class ObservedSecret:
    """A Secret, with digests of its values."""

    namespace: str
    name: str
    owner: ObjectOwner
    digests: Mapping[str, str]


@record
class ObservedKubernetes:
    """The state of a cluster. None: the part could not be read; `unknown` has the reason."""

    at: datetime
    source: str
    """Where it was read from."""
    version: str | None
    """`v1.36.3`."""
    nodes: tuple[ObservedNode, ...] | None = None
    namespaces: tuple[ObservedObject, ...] | None = None
    releases: tuple[HelmRelease, ...] | None = None
    """Only the last revision of each."""
    workloads: tuple[ObservedObject, ...] | None = None
    definitions: tuple[ObservedObject, ...] | None = None
    installers: tuple[ObservedObject, ...] | None = None
    """Bindings of Jobs that install charts, which exist as long as anything of such a Job."""
    flux: tuple[ObservedObject, ...] | None = None
    secrets: tuple[ObservedSecret, ...] | None = None
    """The requested Secrets that exist."""
    config_maps: tuple[ObservedObject, ...] | None = None
    """The requested ConfigMaps that exist."""
    smoke_tests: Mapping[str, str] | None = None
    """Results of smoke tests by component: the version that passed, or `pending`."""
    working: Mapping[str, tuple[ConditionResult, ...]] = field(default_factory=dict)
    """Results of the conditions of each component; conditions that could not be read are missing.
    """
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Why a part could not be read, by its name."""
    calls: int = 0

    def release(self, namespace: str, name: str) -> HelmRelease | None:
        return next(
            (
                release
                for release in self.releases or ()
                if (release.namespace, release.name) == (namespace, name)
            ),
            None,
        )

    def of_flux(self, kind: str, namespace: str, name: str) -> ObservedObject | None:
        return _find_by_name(self.flux or (), kind, namespace, name)

    def workload(self, kind: str, namespace: str, name: str) -> ObservedObject | None:
        return _find_by_name(self.workloads or (), kind, namespace, name)

    def node(self, name: str) -> ObservedNode | None:
        return next((node for node in self.nodes or () if node.name == name), None)

    def works(self, component: str) -> bool:
        """Whether all conditions of a component hold."""
        results = self.working.get(component)
        return results is not None and all(result.holds for result in results)


def _find_by_name(
    objects: tuple[ObservedObject, ...], kind: str, namespace: str, name: str
) -> ObservedObject | None:
    key = (kind, namespace, name)
    return next(
        (entry for entry in objects if (entry.kind, entry.namespace, entry.name) == key), None
    )
