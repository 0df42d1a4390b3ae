"""All controllers, in the order in which they begin to work."""

from __future__ import annotations

from stockman.lab.kube.controllers.accounts import RootAuthority, ServiceAccounts
from stockman.lab.kube.controllers.attaching import Attaching
from stockman.lab.kube.controllers.controller import Controller
from stockman.lab.kube.controllers.cron_job import CronJobs
from stockman.lab.kube.controllers.daemon_set import DaemonSets
from stockman.lab.kube.controllers.deployment import Deployments
from stockman.lab.kube.controllers.disruption import Disruptions
from stockman.lab.kube.controllers.endpoints import Endpoints, EndpointSlices
from stockman.lab.kube.controllers.garbage import GarbageCollector
from stockman.lab.kube.controllers.job import Jobs
from stockman.lab.kube.controllers.namespace import Namespaces
from stockman.lab.kube.controllers.node_lifecycle import NodeLifecycle
from stockman.lab.kube.controllers.node_ttl import NodeTtl
from stockman.lab.kube.controllers.pod_collection import PodCollection
from stockman.lab.kube.controllers.replica_set import ReplicaSets
from stockman.lab.kube.controllers.resource_quota import ResourceQuotas
from stockman.lab.kube.controllers.signing import CertificateApproval, CertificateSigning
from stockman.lab.kube.controllers.stateful_set import StatefulSets
from stockman.lab.kube.controllers.taint_eviction import TaintEviction
from stockman.lab.kube.controllers.ttl_after_finished import TtlAfterFinished
from stockman.lab.kube.controllers.volume_binding import VolumeBinding
from stockman.lab.kube.controllers.volume_protection import VolumeProtection

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
    ResourceQuotas,
    EndpointSlices,
    Endpoints,
    NodeLifecycle,
    TaintEviction,
    PodCollection,
    NodeTtl,
    VolumeBinding,
    VolumeProtection,
    Attaching,
    CertificateApproval,
    CertificateSigning,
)
