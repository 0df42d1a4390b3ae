"""All calls together: `ports.Kubernetes` over any wire."""

from __future__ import annotations

from stockman.kubernetes.access import AccessCalls
from stockman.kubernetes.eviction import EvictionCalls
from stockman.kubernetes.leases import LeaseCalls
from stockman.kubernetes.logs import LogCalls
from stockman.kubernetes.nodes import NodeCalls
from stockman.kubernetes.pods import PodCalls
from stockman.kubernetes.scaling import ScaleCalls
from stockman.kubernetes.server import ServerCalls
from stockman.kubernetes.watching import WatchCalls


class ApiKubernetes(
    WatchCalls,
    NodeCalls,
    PodCalls,
    EvictionCalls,
    ScaleCalls,
    LeaseCalls,
    LogCalls,
    ServerCalls,
    AccessCalls,
):
    """`ports.Kubernetes` over any wire."""
