"""All controllers, in the order in which they begin to work."""

from __future__ import annotations

from stockman_lab.kube.controllers.attaching import Attaching
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.cron_job import CronJobs
from stockman_lab.kube.controllers.daemon_set import DaemonSets
from stockman_lab.kube.controllers.deployment import Deployments
from stockman_lab.kube.controllers.disruption import Disruptions
from stockman_lab.kube.controllers.endpoints import EndpointSlices
from stockman_lab.kube.controllers.garbage import GarbageCollector
from stockman_lab.kube.controllers.job import Jobs, TtlAfterFinished
from stockman_lab.kube.controllers.namespace import Namespaces, RootAuthority, ServiceAccounts
from stockman_lab.kube.controllers.node_lifecycle import NodeLifecycle
from stockman_lab.kube.controllers.replica_set import ReplicaSets
from stockman_lab.kube.controllers.stateful_set import StatefulSets
from stockman_lab.kube.controllers.taint_eviction import PodCollection, TaintEviction
from stockman_lab.kube.controllers.volume_binding import VolumeBinding, VolumeProtection

CONTROLLERS: tuple[type[Controller], ...] = (
    ServiceAccounts,
    RootAuthority,
    Namespaces,
    GarbageCollector,
    Deployments,
    ReplicaSets,
    StatefulSets,
    DaemonSets,
    Jobs,
    CronJobs,
    TtlAfterFinished,
    Disruptions,
    EndpointSlices,
    NodeLifecycle,
    TaintEviction,
    PodCollection,
    VolumeBinding,
    VolumeProtection,
    Attaching,
)
