"""The client of the Kubernetes API."""

from __future__ import annotations

from stockman.kubernetes.calls.leases import LeaseCalls
from stockman.kubernetes.calls.nodes import NodeCalls
from stockman.kubernetes.calls.objects import EvictionCalls, ScaleCalls
from stockman.kubernetes.calls.pods import LogCalls, PodCalls
from stockman.kubernetes.calls.server import AccessCalls, ServerCalls
from stockman.kubernetes.calls.watches import WatchCalls


class KubernetesClient(
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
