"""All calls together: `ports.Talos` over any wire."""

from __future__ import annotations

from stockman.talos.api.clients import ClientCalls
from stockman.talos.api.etcd import EtcdCalls
from stockman.talos.api.kubernetes import KubernetesCalls
from stockman.talos.api.maintenance import MaintenanceCalls
from stockman.talos.api.observing import ObservingCalls
from stockman.talos.api.upgrades import UpgradeCalls


class ApiTalos(
    UpgradeCalls,
    MaintenanceCalls,
    KubernetesCalls,
    ClientCalls,
    EtcdCalls,
    ObservingCalls,
):
    """`ports.Talos` over any wire."""
