"""The Job that installs a chart, and what it needs around it."""

from __future__ import annotations

from stockman.model.record import record
from stockman.ports.kubernetes.kinds import CONFIG_MAPS, JOBS, SERVICE_ACCOUNTS, Ref
from stockman.steps.kube_applying import ours
from stockman.steps.kube_kinds import ROLE_BINDINGS
from stockman.steps.kube_reading import MANAGED_BY, MANAGER

HELM_IMAGE = "docker.io/alpine/helm:4.0.1"
NAMESPACE = "kube-system"
"""Pods in it may use the network of their node, whatever the rest of the cluster allows."""
DIGEST = "stockman.dev/installs"
"""Annotation that tells which values and version a Job installs."""
_PREFIX = "stockman-install-"
_VALUES = "/values/values.yaml"
_KEPT = 3600
"""Seconds that a Job stays when nobody is there to remove it."""
_TRIES = 2
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@record
class Install:
    """What is installed: a chart, its values, and the release that it becomes."""

    release: str
    """As the HelmRelease is named, so that Flux takes the release over."""
    namespace: str
    source: str
    """`oci://` address of the chart, or the address of its repository."""
    version: str
    values: str
    """JSON, as the HelmRelease has them."""
    chart: str = ""
    """Its name in a repository; empty for OCI."""
    image: str = HELM_IMAGE
    seconds: int = 900
    """How long it may take, with every try."""
    waits: bool = True
    """Whether it ends only when what was installed is ready."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of helm."""
        place = (self.source,) if not self.chart else (self.chart, "--repo", self.source)
        waiting = ("--wait", "--timeout", f"{max(self.seconds // 2, 60)}s") if self.waits else ()
        return (
            *("upgrade", "--install", self.release, *place),
            *("--version", self.version, "--namespace", self.namespace),
            *("--values", _VALUES, *waiting),
        )


@record
class Names:
    """The objects around one install."""

    job: Ref
    values: Ref
    account: Ref
    binding: Ref

    @property
    def every(self) -> tuple[Ref, ...]:
        return (self.binding, self.account, self.values, self.job)


def names_of(install: Install) -> Names:
    """What an install is made of, by name; two releases of one name are told apart."""
    name = f"{_PREFIX}{install.release}"
    return Names(
        job=Ref(kind=JOBS, name=name, namespace=NAMESPACE),
        values=Ref(kind=CONFIG_MAPS, name=name, namespace=NAMESPACE),
        account=Ref(kind=SERVICE_ACCOUNTS, name=name, namespace=NAMESPACE),
        binding=Ref(kind=ROLE_BINDINGS, name=name),
    )


def job(install: Install, digest: str) -> dict[str, object]:
    """The Job: on a control plane, in its network, before anything else works."""
    names = names_of(install)
    pod: dict[str, object] = {
        "restartPolicy": "Never",
        "serviceAccountName": names.account.name,
        # There are neither a network of pods nor names yet.
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "nodeSelector": {"kubernetes.io/os": "linux", _CONTROL_PLANE: ""},
        "tolerations": [{"operator": "Exists"}],
        "priorityClassName": "system-cluster-critical",
        "containers": [_container(install)],
        "volumes": [
            {"name": "values", "configMap": {"name": names.values.name}},
            {"name": "home", "emptyDir": {}},
        ],
    }
    labels = {MANAGED_BY: MANAGER, "app.kubernetes.io/name": names.job.name}
    content = ours(
        JOBS,
        names.job.name,
        names.job.namespace,
        spec={
            "backoffLimit": _TRIES,
            "activeDeadlineSeconds": install.seconds,
            "ttlSecondsAfterFinished": _KEPT,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )
    metadata = content["metadata"]
    if isinstance(metadata, dict):
        metadata["annotations"] = {DIGEST: digest}
    return content


def _container(install: Install) -> dict[str, object]:
    # The service of the API has no address that works before there is a network: each control
    # plane has a server of its own.
    address = {"valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}
    return {
        "name": "helm",
        "image": install.image,
        "args": list(install.arguments),
        "env": [
            {"name": "KUBERNETES_SERVICE_HOST", **address},
            {"name": "KUBERNETES_SERVICE_PORT", "value": "6443"},
            {"name": "HOME", "value": "/home/helm"},
        ],
        "volumeMounts": [
            {"name": "values", "mountPath": "/values", "readOnly": True},
            {"name": "home", "mountPath": "/home/helm"},
        ],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
