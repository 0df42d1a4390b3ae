"""The machine as a whole: where it is in its life, its services, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.kinds.network_addresses import node_addresses
from stockman_lab.talos.cosi.registry import Contents, kind
from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import unmet_conditions

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


@kind("MachineStatuses.runtime.talos.dev", "runtime.MachineStatusController")
def machine_statuses(machine: Machine) -> Contents:
    unmet = unmet_conditions(machine)
    stage = machine.state.stage
    status = {
        "ready": not unmet,
        "unmetConditions": [{"name": name, "reason": reason} for name, reason in unmet],
    }
    return {
        "machine": {"stage": stage.value if stage is not Stage.OFF else "unknown", "status": status}
    }


@kind("Services.v1alpha1.talos.dev", "v1alpha1.ServiceController")
def services(machine: Machine) -> Contents:
    return {
        service.id: {
            "running": True,
            "healthy": service.is_healthy is True,
            "unknown": service.is_healthy is None,
        }
        for service in machine.state.services.values()
        if service.is_running
    }


@kind("Diagnostics.runtime.talos.dev", "runtime.DiagnosticsController")
def diagnostics(machine: Machine) -> Contents:
    config = machine.config
    addresses = {
        name: node_address["addresses"]
        for name, node_address in node_addresses(machine).items()
        if isinstance(node_address, dict)
    }
    if config is None or not addresses["routed"] or addresses.get("routed-no-k8s", [1]):
        return {}
    details = [
        f"host routed addresses: {_quote_all(addresses['routed'])}",
        f"Kubernetes pod CIDRs: {_quote_all(list(config.kubernetes.pod_subnets))}",
        f"Kubernetes service CIDRs: {_quote_all(list(config.kubernetes.service_subnets))}",
    ]
    message = "host and Kubernetes pod/service CIDR addresses overlap"
    return {"address-overlap": {"message": message, "details": details}}


def _quote_all(texts: object) -> str:
    found = texts if isinstance(texts, list) else []
    return f"[{' '.join(f'{chr(34)}{one}{chr(34)}' for one in found)}]"
