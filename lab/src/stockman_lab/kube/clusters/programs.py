"""Programs in pods that do something themselves: Helm, operators, releases of Flux."""

from __future__ import annotations

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.flux.helm_release import HelmReleases
from stockman_lab.kube.flux.instance import FluxInstances
from stockman_lab.kube.helm.acknowledging import Acknowledging
from stockman_lab.kube.helm.ceph import CephClusters, Trouble, no_trouble
from stockman_lab.kube.helm.jobs import HelmJobs
from stockman_lab.kube.helm.load_balancers import LoadBalancers
from stockman_lab.kube.helm.operators import Operators
from stockman_lab.kube.nodes.host import Hosts


def program_controllers(
    hosts: Hosts, trouble: Trouble = no_trouble
) -> tuple[type[Controller], ...]:
    """What Helm, operators and Flux's releases do in one cluster."""
    return (
        type("HelmJobsOfCluster", (HelmJobs,), {"hosts": hosts}),
        Operators,
        Acknowledging,
        LoadBalancers,
        type("CephOfCluster", (CephClusters,), {"trouble": staticmethod(trouble)}),
        FluxInstances,
        HelmReleases,
    )
