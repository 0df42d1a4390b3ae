"""Problems of the Kubernetes stage, made as their pages show them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.kubernetes.objects import PODS, SECRETS, ObjectRef
from stockman.model.problem import Problem
from stockman.steps.access.delivery import restart_timeout
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.objects import DEFINITIONS, KUSTOMIZATIONS

_JOB = (
    "jobs.batch stockman-install-cilium in kube-system, pod stockman-install-cilium-x7k2p on cp-1"
)
_SECRET = ObjectRef(kind=SECRETS, name="sops-age", namespace="flux-system")

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "kube.bare-pods": lambda: problems.pods_without_owner("work-1", ["default/shell"]),
    "kube.definitions": lambda: problems.missing_crds("gateway-api", "v1.2.0", ["v1.6.1"]),
    "kube.drain-blocked": lambda: problems.drain_timeout(
        "work-1", 600.0, ["disruption budget shop protects web/shop-0"]
    ),
    "kube.foreign": lambda: problems.secret_differs(_SECRET, ["kubectl"], ["age.agekey"]),
    "kube.install-failed": lambda: problems.chart_install_failure(
        "cilium",
        _JOB,
        "BackoffLimitExceeded: Job has reached the specified backoff limit",
        ["Error: context deadline exceeded"],
    ),
    "kube.not-restarted": lambda: restart_timeout(
        ObjectRef(kind=PODS, name="proxmox-csi-controller-7d9", namespace="csi-proxmox"),
        300.0,
        0,
        1,
    ),
    "kube.not-reconciled": lambda: problems.reconcile_timeout(
        ObjectRef(kind=KUSTOMIZATIONS, name="cluster-apps", namespace="flux-system"),
        300.0,
        "it is suspended",
    ),
    "kube.uncordoned": lambda: problems.node_became_schedulable("work-1"),
    "kube.not-served": lambda: problems.crd_unavailable(
        ObjectRef(kind=DEFINITIONS, name="gateways.gateway.networking.k8s.io"),
        120.0,
        'NamesAccepted is not true: "gateways" is already in use',
    ),
    "kube.smoke-test-failed": lambda: problems.smoke_test_failure(
        "coredns", 300.0, ["the command succeeds (0 of 1 succeeded)"]
    ),
    "kube.unknown": lambda: problems.cluster_unreadable("the Kubernetes API gives no answer"),
    "kube.unpushed": lambda: problems.missing_push(
        "main", "not committed: kubernetes/apps/kube-system/proxmox-ccm/app/secret.sops.yaml"
    ),
}
"""By code."""
