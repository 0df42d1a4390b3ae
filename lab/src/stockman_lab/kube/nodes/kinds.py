"""The controllers of nodes and pods, for the machines of one cluster."""

from __future__ import annotations

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.nodes.host import Hosts
from stockman_lab.kube.nodes.kubelet import Kubelets, usual_outcome
from stockman_lab.kube.nodes.pod_running import Outcomes
from stockman_lab.kube.nodes.provisioning import VolumeProvisioners
from stockman_lab.kube.nodes.scheduler import Scheduler
from stockman_lab.kube.nodes.setup import NodeSetup
from stockman_lab.kube.nodes.storage_drivers import StorageDrivers


def node_controllers(
    hosts: Hosts, outcomes: Outcomes = usual_outcome
) -> tuple[type[Controller], ...]:
    """Scheduler, kubelets, what new nodes get, and storage drivers."""
    told = {"hosts": hosts, "outcomes": staticmethod(outcomes)}
    return (
        Scheduler,
        type("KubeletsOfCluster", (Kubelets,), told),
        type("SetupOfCluster", (NodeSetup,), {"hosts": hosts}),
        StorageDrivers,
        VolumeProvisioners,
    )
