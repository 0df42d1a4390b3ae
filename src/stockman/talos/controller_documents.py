"""Documents of a machine configuration that only controllers may have, since 1.14."""

from __future__ import annotations

CONTROLLERS_ONLY = frozenset(
    f"Kube{name}Config"
    for name in (
        "AdmissionControl",
        "AggregatorCA",
        "APIServer",
        "AuditPolicy",
        "Authentication",
        "Authorizer",
        "ControllerManager",
        "CoreDNS",
        "EtcdEncryption",
        "FlannelCNI",
        "Proxy",
        "Scheduler",
        "ServiceAccount",
        "TalosAPIAccess",
    )
)
"""Kinds that Talos refuses on workers."""
