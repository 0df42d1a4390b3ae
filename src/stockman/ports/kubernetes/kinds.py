"""Kinds of objects, and objects by name."""

from __future__ import annotations

from stockman.model.record import record


@record
class Kind:
    """A kind as it is served."""

    api_version: str
    """`v1`, `apps/v1`."""
    name: str
    """`Deployment`."""
    plural: str
    """`deployments`."""
    is_namespaced: bool = True

    @property
    def group(self) -> str:
        """Empty: the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def qualified(self) -> str:
        """The plural as texts of the server have it: `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


@record
class Ref:
    """One object by its name."""

    kind: Kind
    name: str
    namespace: str = ""
    """Empty: objects of this kind are in none."""

    @property
    def shown(self) -> str:
        """For people."""
        place = f" in {self.namespace}" if self.namespace else ""
        return f"{self.kind.qualified} {self.name}{place}"


NAMESPACES = Kind(api_version="v1", name="Namespace", plural="namespaces", is_namespaced=False)
NODES = Kind(api_version="v1", name="Node", plural="nodes", is_namespaced=False)
PODS = Kind(api_version="v1", name="Pod", plural="pods")
CONFIG_MAPS = Kind(api_version="v1", name="ConfigMap", plural="configmaps")
SECRETS = Kind(api_version="v1", name="Secret", plural="secrets")
SERVICE_ACCOUNTS = Kind(api_version="v1", name="ServiceAccount", plural="serviceaccounts")
DEPLOYMENTS = Kind(api_version="apps/v1", name="Deployment", plural="deployments")
DAEMON_SETS = Kind(api_version="apps/v1", name="DaemonSet", plural="daemonsets")
STATEFUL_SETS = Kind(api_version="apps/v1", name="StatefulSet", plural="statefulsets")
JOBS = Kind(api_version="batch/v1", name="Job", plural="jobs")
DISRUPTION_BUDGETS = Kind(
    api_version="policy/v1", name="PodDisruptionBudget", plural="poddisruptionbudgets"
)
LEASES = Kind(api_version="coordination.k8s.io/v1", name="Lease", plural="leases")
